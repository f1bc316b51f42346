import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { RunInput, RunMemo } from '../../../src/contract/run.ts';
import { commandsOf, type Commands } from '../../support/commands.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { fresh } from '../../support/world.ts';

let on: Commands;
before(async () => {
  on = commandsOf(await sharedStack());
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
