import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { RunInput, RunMemo } from '../../../src/contract/run.ts';
import { BACKUP_PACE, DEPLOY_PACE, PACE, startCommandLine, type CommandLine } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { began, reads } from '../../support/journal.ts';
import { fresh } from '../../support/world.ts';

let on: CommandLine;
before(async () => {
  on = await startCommandLine();
});

/** What a detached run was started with. */
async function inputOf(...args: string[]): Promise<RunInput> {
  const { code, json, stderr } = await on.belay(...args, '--detach', '--json');
  assert.equal(code, 0, stderr);
  const { memo } = await on.client.workflow.getHandle(String(json().workflowId)).describe();
  return (memo as unknown as RunMemo).input;
}

test('every option arrives in the input of the run, in milliseconds', async () => {
  const [serverId, first, second] = [fresh('s'), fresh('a'), fresh('a')];
  const input = await inputOf(
    ...['run', '--server', serverId, '--site', first, '--site', second],
    ...['--backup-interval', '500ms', '--backup-tries', '7', '--max-backup-age', '2h'],
    ...['--deploy-interval', '10', '--deploy-tries', '9', '--settle', '1.5m', '--min-evidence', 'changed'],
    ...['--baseline-wait', '20s', '--on-ambiguous', 'stop', '--keep-going'],
    ...['--if-busy', 'fail', '--busy-timeout', '45m', '--start-within', '5m', '--meta', 'job=1=2', '--meta', 'who=ci'],
  );
  assert.deepEqual(input, {
    serverId,
    siteIds: [first, second],
    backup: { intervalMs: 500, tries: 7, maxAgeMs: 7_200_000 },
    deploy: {
      intervalMs: 10_000,
      tries: 9,
      settleMs: 90_000,
      minEvidence: 'changed',
      baselineWaitMs: 20_000,
      onAmbiguous: 'stop',
    },
    ifBusy: 'fail',
    busyTimeoutMs: 2_700_000,
    startWithinMs: 300_000,
    keepGoing: true,
    meta: { job: '1=2', who: 'ci' },
  });
});

test('what was not asked for is left to the defaults', async () => {
  const siteId = fresh('a');
  assert.deepEqual(await inputOf('deploy', '--site', siteId), { siteIds: [siteId] });
});

describe('options', { concurrency: 4 }, () => {
  test('--backup-interval and --backup-tries make as many reads as asked for', async () => {
    const serverId = fresh('s');
    on.sandbox.script({ server: serverId }, { ends: 'never' });
    const pace = ['--backup-interval', '300ms', '--backup-tries', '3'];
    const { json } = await on.belay('backup', '--server', serverId, ...pace, '--json');
    assert.equal(reads(on.sandbox, `/v1/backups/${json().backup?.backupId}`).length, 3);
  });

  test('several --site are deployed one after another in the order given; the first that fails stops the run', async () => {
    const [first, second, third] = [fresh('a'), fresh('a'), fresh('a')];
    on.sandbox.script({ site: second }, { durationMs: 300, ends: 'failed' });
    const sites = ['--site', first, '--site', second, '--site', third];
    const { code, json } = await on.belay('deploy', ...sites, ...DEPLOY_PACE, '--json');
    assert.equal(code, 1);
    const outcomes = json().deployments.map(({ siteId, outcome }) => [siteId, outcome]);
    assert.deepEqual(outcomes, [
      [first, 'completed'],
      [second, 'failed'],
      [third, 'not_started'],
    ]);
  });

  test('--keep-going goes on after one that fails, and still exits with the worst', async () => {
    const [first, second] = [fresh('a'), fresh('a')];
    on.sandbox.script({ site: first }, { durationMs: 300, ends: 'failed' });
    const sites = ['--site', first, '--site', second, '--keep-going'];
    const { code, json } = await on.belay('deploy', ...sites, ...DEPLOY_PACE, '--json');
    assert.equal(code, 1);
    assert.deepEqual(
      json().deployments.map(({ outcome }) => outcome),
      ['failed', 'completed'],
    );
  });

  test('--max-backup-age rests on a completed backup, and makes one where there is none', async () => {
    const serverId = fresh('s');
    const args = ['backup', '--server', serverId, '--max-backup-age', '1h', ...BACKUP_PACE, '--json'];
    const first = (await on.belay(...args)).json().backup;
    assert.equal(first?.source, 'created');
    const second = (await on.belay(...args)).json().backup;
    assert.equal(second?.source, 'reused');
    assert.equal(second.backupId, first.backupId);
    assert.equal(began(on.sandbox, 'backup', serverId).length, 1);
  });

  test('--backup-id rests on a backup in the making, and makes none', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    on.sandbox.script({ server: serverId }, { durationMs: 1_500 });
    on.sandbox.act({ server: serverId });
    const backupId = on.sandbox.journal.find(({ began: it }) => it?.target === serverId)?.began?.id ?? '';
    const args = ['run', '--server', serverId, '--site', siteId, '--backup-id', backupId, ...PACE, '--json'];
    const { code, json } = await on.belay(...args);
    assert.equal(code, 0);
    assert.deepEqual([json().backup?.source, json().backup?.backupId], ['given', backupId]);
    assert.equal(began(on.sandbox, 'backup', serverId).length, 0);
  });

  test('--settle is how long the same final status has to last', async () => {
    const [believed, doubted] = [fresh('a'), fresh('a')];
    for (const site of [believed, doubted]) {
      on.sandbox.script({ site }, { durationMs: 0 });
      on.sandbox.act({ site });
    }
    const pace = ['--deploy-interval', '1s', '--deploy-tries', '13', '--json'];
    const [settled, unknown] = await Promise.all([
      on.belay('deploy', '--site', believed, '--settle', '10s', ...pace),
      on.belay('deploy', '--site', doubted, '--settle', '1h', ...pace),
    ]);
    assert.deepEqual([settled.code, settled.json().deployments[0]?.evidence], [0, 'settled']);
    assert.deepEqual([unknown.code, unknown.json().outcome], [4, 'unknown']);
  });

  test('--min-evidence makes anything weaker unknown', async () => {
    const pace = ['--deploy-interval', '200ms', '--deploy-tries', '3', '--json'];
    for (const [least, code] of [
      ['changed', 0],
      ['transition', 4],
    ] as const) {
      const siteId = fresh('a');
      on.sandbox.script({ site: siteId }, { durationMs: 0 });
      assert.equal((await on.belay('deploy', '--site', siteId, '--min-evidence', least, ...pace)).code, code);
    }
  });

  test('--if-busy wait waits for the other run, --busy-timeout so long', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { ends: 'never' }, {});
    const pace = ['--deploy-interval', '200ms', '--deploy-tries', '500'];
    const deploy = (...more: string[]) => on.start('deploy', '--site', siteId, ...pace, ...more, '--json');
    const first = deploy();
    await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
    const [patient, hasty] = [deploy('--if-busy', 'wait'), deploy('--busy-timeout', '300ms')];
    assert.equal((await hasty.finished).json().error?.type, 'Busy');
    on.sandbox.finish({ site: siteId }, 'completed');
    assert.deepEqual([(await first.finished).code, (await patient.finished).code], [0, 0]);
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 2);
  });

  test('--meta comes back in the result', async () => {
    const { json } = await on.belay(
      'backup',
      '--server',
      fresh('s'),
      ...BACKUP_PACE,
      '--meta',
      'commit=ab12',
      '--json',
    );
    assert.deepEqual(json().meta, { commit: 'ab12' });
  });

  test('--detach exits 0 at once; wait gives the verdict', async () => {
    const serverId = fresh('s');
    on.sandbox.script({ server: serverId }, { durationMs: 1_500, ends: 'failed' });
    const detached = await on.belay('backup', '--server', serverId, ...BACKUP_PACE, '--detach', '--json');
    assert.deepEqual([detached.code, detached.json().outcome], [0, null]);
    assert.equal((await on.belay('wait', String(detached.json().workflowId), '--json')).code, 1);
  });
});
