import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import { TypedSearchAttributes } from '@temporalio/common';
import { ATTRIBUTE_KEYS } from '../../../src/request/search-attributes.ts';
import type { RunResult } from '../../../src/contract/run.ts';
import type { JournalEntry } from '../../../src/sandbox/state.ts';
import { DEPLOY_PACE, PACE } from '../../support/command-line.ts';
import { commandsOn, type Commands } from '../../support/commands.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { run } from '../../support/processes.ts';
import { tempFolder } from '../../support/temporal.ts';
import { fresh } from '../../support/world.ts';

let on: Commands;
before(async () => {
  on = await commandsOn('runs');
});

async function list(...args: string[]): Promise<RunResult[]> {
  const { code, json } = await on.belay('list', '--json', ...args);
  assert.equal(code, 0);
  return (json() as unknown as { runs: RunResult[] }).runs;
}

describe('the command line', { concurrency: 4 }, () => {
  test('run backs up, deploys, and prints exactly one JSON document with --json', async () => {
    const args = ['run', '--server', fresh('s'), '--site', fresh('a'), ...PACE, '--json'];
    const { code, json } = await on.belay(...args);
    assert.equal(code, 0);
    const result = json();
    assert.deepEqual(Object.keys(result), [
      ...['schemaVersion', 'workflowId', 'runId', 'attached', 'service', 'outcome', 'phase', 'backup', 'deployments'],
      ...['error', 'supersededBy', 'commit', 'commitSeen', 'held', 'meta', 'links', 'startedAt', 'endedAt'],
    ]);
    assert.equal(result.outcome, 'completed');
    assert.equal(result.service, on.sandbox.url);
    assert.ok(result.links.ui?.startsWith(on.uiUrl));
  });

  test('deploy prints text without --json, and no color codes outside a terminal, even where CI is set', async () => {
    const colorful = { ...on.env, CI: 'true', FORCE_COLOR: '1', NO_COLOR: '' };
    const { code, stdout } = await run(['deploy', '--site', fresh('a'), ...DEPLOY_PACE], colorful);
    assert.equal(code, 0);
    assert.match(stdout, /^completed in [\dms]+\n {2}deployment of a\d+: completed, evidence: /);
    assert.ok(!stdout.includes('\u001b'));
  });

  test('status reports where a running run is, and its result once it has ended', async () => {
    const serverId = fresh('s');
    on.sandbox.script({ server: serverId }, { ends: 'never' });
    const pace = ['--backup-interval', '1s', '--backup-tries', '2000'];
    const detached = await on.belay('backup', '--server', serverId, ...pace, '--detach', '--json');
    const workflowId = String(detached.json().workflowId);
    await eventually('the backup', () => began(on.sandbox, 'backup', serverId).length === 1);
    const inFlight = await on.belay('status', workflowId, '--json', '--exit-status');
    assert.deepEqual([inFlight.code, inFlight.json().outcome, inFlight.json().phase], [124, null, 'backup']);
    const now = /in progress: backup\n[^]*now: backup of s\d+: try \d+ of 2000, last status "/;
    await eventually('the first status', async () => now.test((await on.belay('status', workflowId)).stdout));
    on.sandbox.finish({ server: serverId }, 'failed');
    await on.belay('wait', workflowId);
    const closed = await on.belay('status', workflowId, '--json');
    assert.deepEqual([closed.code, closed.json().outcome], [0, 'failed']);
    assert.equal((await on.belay('status', workflowId, '--exit-status')).code, 1);
  });

  test('a deployment cancelled in progress exits 8 and reports that it continues at the service', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { ends: 'never' });
    const pace = ['--deploy-interval', '1s', '--deploy-tries', '2000'];
    await on.belay('deploy', '--site', siteId, ...pace, '--key', 'k', '--detach');
    await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
    const cancelled = await on.belay('cancel', `deploy:${siteId}:k`);
    assert.equal(cancelled.code, 0);
    // By then, a worker may have taken it up.
    assert.match(cancelled.stdout, /^ {2}cancellation requested: it takes effect|^cancelled/m);
    const { code, json } = await on.belay('wait', `deploy:${siteId}:k`, '--json');
    assert.equal(code, 8);
    assert.match(json().error?.message ?? '', /continues at the service/);
    const again = await on.belay('cancel', `deploy:${siteId}:k`, '--json');
    assert.deepEqual([again.code, again.json().outcome], [0, 'cancelled']);
    assert.equal(again.stderr, `deploy:${siteId}:k had ended: there was nothing to cancel\n`);
  });

  test('a run names its id and its page on stderr before anything else, new or joined', async () => {
    const siteId = fresh('a');
    const env = { ...on.env, BELAY_UI_URL: 'https://ui.example' };
    const args = ['deploy', '--site', siteId, ...DEPLOY_PACE, '--key', 'k'];
    const workflowId = `deploy:${siteId}:k`;
    for (const joined of ['', ', which was started before']) {
      const { stderr } = await run(args, env);
      const [first, second] = stderr.split('\n').filter((line) => !line.startsWith('Using '));
      assert.equal(first, `run: ${workflowId}${joined}`);
      assert.match(second ?? '', /^in the Temporal UI: https:\/\/ui\.example\/namespaces\/.+\/user-metadata$/);
    }
  });

  test('a run with a note that is too long deploys, and says on stderr that the note was cut', async () => {
    const args = ['deploy', '--site', fresh('a'), ...DEPLOY_PACE, '--meta', 'team=web'];
    const { code, json, stderr } = await on.belay(...args, '--meta', `message=${'x'.repeat(300)}`, '--json');
    assert.deepEqual([code, json().meta], [0, { team: 'web', message: `${'x'.repeat(199)}…` }]);
    assert.match(stderr, /^note: --meta message was cut to 200 characters$/m);
  });

  test('a wait that ends before the verdict shows one hint, and no failure', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { ends: 'never' });
    const args = ['deploy', '--site', siteId, ...DEPLOY_PACE, '--key', 'k'];
    await on.belay(...args, '--detach');
    // Before that, a slow machine may not have begun the run.
    await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
    const { code, stdout, stderr } = await on.belay(...args, '--wait-timeout', '1s');
    assert.equal(code, 124);
    assert.match(stdout, /^stopped waiting, in progress: /);
    assert.equal((stdout + stderr).split(`npx belay-deploy wait deploy:${siteId}:k`).length, 2, stdout + stderr);
    on.sandbox.finish({ site: siteId }, 'completed');
  });

  test('wait and cancel print the same error for an id that does not exist', async () => {
    const [waited, cancelled] = [await on.belay('wait', 'nope'), await on.belay('cancel', 'nope')];
    assert.deepEqual([waited.code, waited.stdout, waited.stderr], [2, '', cancelled.stderr]);
    assert.match(waited.stderr, /^belay: there is no nope: check the id/);
    const { attached, workflowId } = (await on.belay('wait', 'nope', '--json')).json();
    assert.deepEqual({ attached, workflowId }, { attached: false, workflowId: null });
  });

  test('watch follows a foreign deployment and triggers nothing', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
    const pace = ['--deploy-interval', '200ms', '--deploy-tries', '2000'];
    const watching = on.belay('watch', '--site', siteId, ...pace, '--json');
    await eventually('a read', () => on.sandbox.journal.some(({ request }) => request.includes(`/${siteId}/`)));
    on.sandbox.act({ site: siteId });
    const isRead = ({ request, said }: JournalEntry) => request.includes(`/${siteId}/`) && said === 'building';
    await eventually('a read in progress', () => on.sandbox.journal.some(isRead));
    on.sandbox.finish({ site: siteId }, 'failed');
    const { code, json } = await watching;
    assert.equal(code, 1);
    assert.ok(json().workflowId?.startsWith(`watch:${siteId}:`));
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 0);
  });

  test('list filters runs by site, server, outcome and age, newest first', async () => {
    const [serverId, good, bad] = [fresh('s'), fresh('a'), fresh("o'brien")];
    on.sandbox.script({ site: bad }, { durationMs: 300, ends: 'failed' });
    await on.belay('run', '--server', serverId, '--site', good, ...PACE);
    await on.belay('deploy', '--site', bad, '--site', good, ...DEPLOY_PACE);
    const named = (runs: RunResult[]) => runs.map(({ workflowId }) => workflowId?.split(':')[0]);
    // Temporal's index of runs follows a moment later.
    await eventually(
      'the end of the second run',
      async () => (await list('--site', bad, '--outcome', 'failed')).length === 1,
    );
    await eventually('both runs', async () => (await list('--site', good)).length === 2);
    assert.deepEqual(named(await list('--site', good)), ['deploy', 'backup-then-deploy']);
    assert.deepEqual(named(await list('--server', serverId)), ['backup-then-deploy']);
    assert.deepEqual(named(await list('--site', good, '--outcome', 'failed')), ['deploy']);
    assert.deepEqual(named(await list('--site', bad, '--since', '1h')), ['deploy']);
    assert.deepEqual(await list('--site', bad, '--since', '1ms'), []);
    assert.equal((await list('--site', good, '--limit', '1')).length, 1);
    assert.equal((await list('--site', good))[0]?.error?.type, 'DeploymentFailed');
    const { stdout } = await on.belay('list', '--site', bad);
    assert.match(
      stdout,
      /^STARTED +STATE +TOOK +SITES +RUN\n\d{4}-\d\d-\d\dT[\d:]+Z {2}failed {2}[\dms]+ +o'brien\S+, a\d+ {2}deploy:\S+ {2}\S/,
    );
  });

  test('list sorts runs by their start, whether they have ended or not', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { ends: 'never' });
    const first = await on.belay('deploy', '--site', siteId, '--detach', '--json');
    await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
    const second = await on.belay('deploy', '--site', siteId, '--if-busy', 'fail', '--json');
    assert.equal(second.code, 5);
    const ids = [second, first].map((it) => it.json().workflowId);
    await eventually('both runs', async () => (await list('--site', siteId)).length === 2);
    assert.deepEqual(
      (await list('--site', siteId)).map(({ workflowId }) => workflowId),
      ids,
    );
    assert.equal((await on.belay('cancel', String(first.json().workflowId))).code, 0);
  });

  test('deploy rejects a --summary path it cannot write to, and a later write error changes no verdict', async () => {
    const [siteId, folder] = [fresh('a'), await tempFolder()];
    for (const [file, message] of [
      ['', 'Name a file.'],
      [folder, `Cannot write to ${folder} (EISDIR). Name a file that can be written.`],
      [`${folder}/none/x`, `Cannot write to ${folder}/none/x (ENOENT). Name a file that can be written.`],
    ] as const) {
      const { code, json } = await on.belay('deploy', '--site', siteId, '--summary', file, '--json');
      assert.equal(code, 2);
      assert.ok(json().error?.message.includes(message), json().error?.message);
    }
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 0);
    on.sandbox.script({ site: siteId }, { ends: 'never' });
    const pace = ['--deploy-interval', '1s', '--deploy-tries', '2000'];
    const deploying = on.belay('deploy', '--site', siteId, ...pace, '--summary', `${folder}/summary`);
    await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
    await rm(folder, { recursive: true });
    on.sandbox.finish({ site: siteId }, 'completed');
    const { code, stderr } = await deploying;
    assert.equal(code, 0);
    assert.match(stderr, /belay: --summary .*\/summary was not written \(ENOENT\)\n$/);
  });

  test('list --outcome not_started finds a run that was rejected for its input', async () => {
    const serverId = fresh('s');
    const refused = await on.belay('backup', '--server', serverId, '--heartbeat', 'nope', '--json');
    assert.equal(refused.code, 2);
    const found = await eventually('the run', async () => {
      const runs = await list('--server', serverId);
      return runs[0]?.outcome === 'not_started' && runs;
    });
    assert.deepEqual(await list('--server', serverId, '--outcome', 'not_started'), found);
    assert.deepEqual(await list('--server', serverId, '--outcome', 'failed'), []);
  });

  test('list --outcome unknown finds a run that Temporal ended because of its time-out', async () => {
    const serverId = fresh('s');
    const attributes = new TypedSearchAttributes([{ key: ATTRIBUTE_KEYS.server, value: [serverId] }]);
    await on.client.workflow.start('backupOnly', {
      workflowId: fresh('timed-out'),
      taskQueue: fresh('no-worker'),
      workflowExecutionTimeout: 1,
      typedSearchAttributes: attributes,
      args: [{ serverId }],
    });
    const found = await eventually('the run', async () => {
      const runs = await list('--server', serverId, '--outcome', 'unknown');
      return runs.length === 1 && runs;
    });
    assert.equal(found[0]?.outcome, 'unknown');
  });

  test('the help of each main command shows --json and an example', async () => {
    const { code, stdout } = await on.belay('--help');
    assert.equal(code, 0);
    const names = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name ?? '');
    for (const name of [
      'run',
      'backup',
      'deploy',
      'watch',
      'wait',
      'status',
      'cancel',
      'list',
      'top',
      'doctor',
      'dev',
    ]) {
      assert.ok(names.includes(name), name);
      const help = await on.belay(name, '--help');
      assert.equal(help.code, 0);
      assert.match(help.stdout, /Usage: belay [^]*--json[^]*Examples?:\n {2}belay /, name);
    }
  });
});
