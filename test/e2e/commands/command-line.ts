import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import type { RunResult } from '../../../src/contract/run.ts';
import { DEPLOY_PACE, PACE, startCommandLine, type CommandLine } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { tempFolder } from '../../support/temporal.ts';
import { fresh } from '../../support/world.ts';

let on: CommandLine;
before(async () => {
  on = await startCommandLine();
});

async function list(...args: string[]): Promise<RunResult[]> {
  const { code, json } = await on.belay('list', '--json', ...args);
  assert.equal(code, 0);
  return (json() as unknown as { runs: RunResult[] }).runs;
}

describe('the command line', { concurrency: 4 }, () => {
  test('dev says in one line where everything is', () => {
    assert.deepEqual(Object.keys(on.dev.ready), ['temporal', 'ui', 'webhooks', 'service']);
    assert.equal(on.dev.ready.service, on.sandbox.url);
  });

  test('run backs up, deploys, and prints exactly one document', async () => {
    const args = ['run', '--server', fresh('s'), '--site', fresh('a'), ...PACE, '--json'];
    const { code, json } = await on.belay(...args);
    assert.equal(code, 0);
    const result = json();
    assert.deepEqual(Object.keys(result), [
      ...['schemaVersion', 'workflowId', 'runId', 'service', 'outcome', 'phase', 'backup', 'deployments', 'error'],
      ...['meta', 'links', 'startedAt', 'endedAt'],
    ]);
    assert.equal(result.outcome, 'completed');
    assert.equal(result.service, on.sandbox.url);
    assert.ok(result.links.ui?.startsWith(on.dev.ready.ui));
  });

  test('without --json people read the same, on stdout, without colours where there is no terminal', async () => {
    const { code, stdout } = await on.belay('deploy', '--site', fresh('a'), ...DEPLOY_PACE);
    assert.equal(code, 0);
    assert.match(stdout, /^completed in \d+ s\n {2}deployment of a\d+: completed, evidence: /);
    assert.ok(!stdout.includes('\u001b'));
  });

  test('status tells where a run in flight is, and its result when it is closed', async () => {
    const serverId = fresh('s');
    on.sandbox.script({ server: serverId }, { ends: 'never' });
    const pace = ['--backup-interval', '500ms', '--backup-tries', '400'];
    const detached = await on.belay('backup', '--server', serverId, ...pace, '--detach', '--json');
    const workflowId = String(detached.json().workflowId);
    await eventually('the backup', () => began(on.sandbox, 'backup', serverId).length === 1);
    const inFlight = await on.belay('status', workflowId, '--json', '--exit-status');
    assert.deepEqual([inFlight.code, inFlight.json().outcome, inFlight.json().phase], [124, null, 'backup']);
    const forPeople = await on.belay('status', workflowId);
    assert.match(forPeople.stdout, /in flight: backup\n[^]*now: backup of s\d+: try \d+ of 400, last "/);
    on.sandbox.finish({ server: serverId }, 'failed');
    await on.belay('wait', workflowId);
    const closed = await on.belay('status', workflowId, '--json');
    assert.deepEqual([closed.code, closed.json().outcome], [0, 'failed']);
    assert.equal((await on.belay('status', workflowId, '--exit-status')).code, 1);
  });

  test('cancel of a deployment under way says that it goes on at the service', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { ends: 'never' });
    const pace = ['--deploy-interval', '200ms', '--deploy-tries', '500'];
    const deploying = on.start('deploy', '--site', siteId, ...pace, '--key', 'k', '--json');
    await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
    assert.equal((await on.belay('cancel', `deploy:${siteId}:k`)).code, 0);
    const { code, json } = await deploying.finished;
    assert.equal(code, 8);
    assert.match(json().error?.message ?? '', /goes on/);
  });

  test('watch follows a deployment somebody else starts, and triggers nothing', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { durationMs: 1_500, ends: 'failed' });
    const pace = ['--deploy-interval', '200ms', '--deploy-tries', '500'];
    const watching = on.start('watch', '--site', siteId, ...pace, '--json');
    await eventually('a read', () => on.sandbox.journal.some(({ request }) => request.includes(`/${siteId}/`)));
    on.sandbox.act({ site: siteId });
    const { code, json } = await watching.finished;
    assert.equal(code, 1);
    assert.ok(json().workflowId?.startsWith(`watch:${siteId}:`));
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 0);
  });

  test('list finds runs by site, server, outcome and age, the newest first', async () => {
    const [serverId, good, bad] = [fresh('s'), fresh('a'), fresh("o'brien")];
    on.sandbox.script({ site: bad }, { durationMs: 300, ends: 'failed' });
    await on.belay('run', '--server', serverId, '--site', good, ...PACE);
    await on.belay('deploy', '--site', bad, '--site', good, ...DEPLOY_PACE);
    const named = (runs: RunResult[]) => runs.map(({ workflowId }) => workflowId?.split(':')[0]);
    // Temporal's index of runs follows a moment later.
    await eventually('both runs', async () => (await list('--site', good)).length === 2);
    assert.deepEqual(named(await list('--site', good)), ['deploy', 'backup-then-deploy']);
    assert.deepEqual(named(await list('--server', serverId)), ['backup-then-deploy']);
    assert.deepEqual(named(await list('--site', good, '--outcome', 'failed')), ['deploy']);
    assert.deepEqual(named(await list('--site', bad, '--since', '1h')), ['deploy']);
    assert.deepEqual(await list('--site', bad, '--since', '1ms'), []);
    assert.equal((await list('--site', good, '--limit', '1')).length, 1);
    assert.equal((await list('--site', good))[0]?.error?.type, 'DeploymentFailed');
    const { stdout } = await on.belay('list', '--site', bad);
    assert.match(stdout, /^\d{4}-\S+Z {2}failed {8}deploy:\S+ {2}\S/);
  });

  test('list goes by the start of runs: one that goes on comes after those that began later', async () => {
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

  test('a summary that cannot be written is told before anything begins, and changes no verdict later', async () => {
    const [siteId, folder] = [fresh('a'), await tempFolder()];
    for (const [file, message] of [
      ['', 'It is empty: name a file.'],
      [folder, `${folder} cannot be written (EISDIR): name a file that can.`],
      [`${folder}/none/x`, `${folder}/none/x cannot be written (ENOENT): name a file that can.`],
    ] as const) {
      const { code, json } = await on.belay('deploy', '--site', siteId, '--summary', file, '--json');
      assert.equal(code, 2);
      assert.ok(json().error?.message.includes(message), json().error?.message);
    }
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 0);
    on.sandbox.script({ site: siteId }, { ends: 'never' });
    const deploying = on.start('deploy', '--site', siteId, ...DEPLOY_PACE, '--summary', `${folder}/summary`);
    await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
    await rm(folder, { recursive: true });
    on.sandbox.finish({ site: siteId }, 'completed');
    const { code, stderr } = await deploying.finished;
    assert.equal(code, 0);
    assert.match(stderr, /belay: --summary .*\/summary was not written \(ENOENT\)\n$/);
  });

  test('list finds what was refused for what it asked for among what was not started', async () => {
    const serverId = fresh('s');
    const refused = await on.belay('backup', '--server', serverId, '--heartbeat', 'nope', '--json');
    assert.equal(refused.code, 2);
    const found = await eventually('the run', async () => {
      const runs = await list('--server', serverId);
      return runs.length === 1 && runs;
    });
    assert.deepEqual(await list('--server', serverId, '--outcome', 'not_started'), found);
    assert.deepEqual(await list('--server', serverId, '--outcome', 'failed'), []);
  });

  test('help of every command names its options and gives an example', async () => {
    const { code, stdout } = await on.belay('--help');
    assert.equal(code, 0);
    const names = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name ?? '');
    for (const name of ['run', 'backup', 'deploy', 'watch', 'wait', 'status', 'cancel', 'list', 'doctor', 'dev']) {
      assert.ok(names.includes(name), name);
      const help = await on.belay(name, '--help');
      assert.equal(help.code, 0);
      assert.match(help.stdout, /Usage: belay [^]*--json[^]*Examples?:\n {2}belay /, name);
    }
  });
});
