import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { RunInput, RunMemo } from '../../../src/contract/run.ts';
import { BACKUP_PACE, DEPLOY_PACE, PACE } from '../../support/command-line.ts';
import { commandsOn, type Commands } from '../../support/commands.ts';
import { eventually } from '../../support/eventually.ts';
import { began, reads } from '../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { fresh } from '../../support/world.ts';

let on: Commands;
before(async () => {
  on = await commandsOn('runs');
});

/** The input that a detached run was started with. */
async function inputOf(...args: string[]): Promise<RunInput> {
  const { code, json, stderr } = await on.belay(...args, '--detach', '--json');
  assert.equal(code, 0, stderr);
  const { memo } = await on.client.workflow.getHandle(String(json().workflowId)).describe();
  return (memo as unknown as RunMemo).input;
}

/** What a starter records of the workers. */
const fromWorkers = () => ({ service: on.sandbox.url, epoch: '1' });

test('every option reaches the input of the run, with times in milliseconds', async () => {
  const [serverId, first, second] = [fresh('s'), fresh('a'), fresh('a')];
  const input = await inputOf(
    ...['run', '--server', serverId, '--site', first, '--site', second],
    ...[
      '--backup-interval',
      '500ms',
      '--backup-tries',
      '7',
      '--max-backup-age',
      '2h',
      '--max-backup-age-at-deploy',
      '6h',
    ],
    ...['--deploy-interval', '10', '--deploy-tries', '9', '--settle', '1.5m', '--min-evidence', 'changed'],
    ...['--baseline-wait', '20s', '--on-ambiguous', 'stop', '--keep-going', '--start-deploys-within', '4h'],
    ...[
      '--if-busy',
      'fail',
      '--busy-timeout',
      '45m',
      '--start-within',
      '5m',
      '--outage-budget',
      '6h',
      '--meta',
      'job=1=2',
      '--meta',
      'who=ci',
    ],
  );
  assert.deepEqual(input, {
    ...fromWorkers(),
    serverId,
    siteIds: [first, second],
    backup: { intervalMs: 500, tries: 7, maxAgeMs: 7_200_000, maxAgeAtDeployMs: 21_600_000 },
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
    startDeploysWithinMs: 14_400_000,
    outageBudgetMs: 21_600_000,
    keepGoing: true,
    meta: { job: '1=2', who: 'ci' },
  });
});

test('an omitted option stays out of the input', async () => {
  const siteId = fresh('a');
  assert.deepEqual(await inputOf('deploy', '--site', siteId), { ...fromWorkers(), siteIds: [siteId] });
});

describe('options', { concurrency: 4 }, () => {
  test('--backup-interval and --backup-tries set the number of reads', async () => {
    const serverId = fresh('s');
    on.sandbox.script({ server: serverId }, { ends: 'never' });
    const pace = ['--backup-interval', '300ms', '--backup-tries', '3'];
    const { json } = await on.belay('backup', '--server', serverId, ...pace, '--json');
    assert.equal(reads(on.sandbox, `/v1/backups/${json().backup?.backupId}`).length, 3);
  });

  test('several --site options deploy in the given order until the first one fails', async () => {
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

  test('--keep-going continues after a failed site and still exits with the worst outcome', async () => {
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

  test('--max-backup-age reuses a completed backup and makes one if there is none', async () => {
    const serverId = fresh('s');
    const args = ['backup', '--server', serverId, '--max-backup-age', '1h', ...BACKUP_PACE, '--json'];
    const first = (await on.belay(...args)).json().backup;
    assert.equal(first?.source, 'created');
    const second = (await on.belay(...args)).json().backup;
    assert.equal(second?.source, 'reused');
    assert.equal(second.backupId, first.backupId);
    assert.equal(began(on.sandbox, 'backup', serverId).length, 1);
  });

  test('--backup-id adopts a running backup and makes none', async () => {
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

  test('--settle sets how long an unchanged final status has to last', async () => {
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

  test('--min-evidence ends anything weaker unknown', async () => {
    const pace = ['--deploy-interval', '200ms', '--deploy-tries', '3', '--json'];
    for (const [least, code] of [
      ['changed', 0],
      ['transition', 4],
    ] as const) {
      const siteId = siteAfter(on.sandbox, FAILED, COMPLETED);
      assert.equal((await on.belay('deploy', '--site', siteId, '--min-evidence', least, ...pace)).code, code);
    }
  });

  test('--if-busy wait waits for the other run, up to --busy-timeout', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { ends: 'never' }, {});
    const pace = ['--deploy-interval', '200ms', '--deploy-tries', '2000'];
    const deploy = (...more: string[]) => on.start('deploy', '--site', siteId, ...pace, ...more, '--json');
    const first = deploy();
    await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
    const [patient, hasty] = [deploy('--if-busy', 'wait'), deploy('--busy-timeout', '300ms')];
    assert.equal((await hasty.finished).json().error?.type, 'Busy');
    on.sandbox.finish({ site: siteId }, 'completed');
    assert.deepEqual([(await first.finished).code, (await patient.finished).code], [0, 0]);
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 2);
  });

  test('--meta is part of the result', async () => {
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

  test('--detach exits 0 at once, and belay wait reports the outcome', async () => {
    const serverId = fresh('s');
    on.sandbox.script({ server: serverId }, { durationMs: 1_500, ends: 'failed' });
    const detached = await on.belay('backup', '--server', serverId, ...BACKUP_PACE, '--detach', '--json');
    assert.deepEqual([detached.code, detached.json().outcome], [0, null]);
    assert.equal((await on.belay('wait', String(detached.json().workflowId), '--json')).code, 1);
  });
});
