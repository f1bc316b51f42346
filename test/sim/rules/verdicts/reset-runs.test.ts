/** What was reset to before its request may have sent it, so it never ends as not started, whatever keeps it back now. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunInput } from '../../../../src/contract/run.ts';
import type { RolloutResult } from '../../../../src/features/rollouts/shapes.ts';
import { fresh } from '../../../support/fresh.ts';
import { outcomesOf, servers, type ServerOfSites } from '../../../support/rollouts.ts';
import { freezeNow } from '../../stack/freeze-now.ts';
import { resetToBeginning } from '../../stack/start-again.ts';
import { inVirtualTime, MOMENT_MS, type VirtualStack } from '../../stack/stack.ts';
import { backsUp, begin, hold } from '../rollouts/rollouts-in-flight.ts';
import { deployPosts } from '../runs/runs-that-wait.ts';

const MINUTE = 60_000;

/** Resets a run that has deployed its sites. */
async function again(
  stack: VirtualStack,
  input: RunInput,
  afterMs: number,
  meanwhile: (stack: VirtualStack) => void = () => {},
) {
  const siteIds = [fresh('a'), fresh('a')];
  const first = stack.start({ siteIds, ...input });
  assert.equal((await stack.result(first)).outcome, 'completed');
  await stack.forward(afterMs);
  meanwhile(stack);
  const run = resetToBeginning(stack, first);
  return { run, siteIds };
}

const CASES: [what: string, input: RunInput, afterMs: number, meanwhile?: (stack: VirtualStack) => void][] = [
  ['no worker took it up in time', { serverId: 's9' }, 11 * MINUTE],
  ['it is too late for a backup and deployments', { serverId: 's9', startDeploysWithinMs: 5 * MINUTE }, 6 * MINUTE],
  ['it is too late for deployments', { startDeploysWithinMs: 5 * MINUTE }, 6 * MINUTE],
  ['a freeze is in force', { serverId: 's9' }, MINUTE, ({ world }) => void freezeNow(world.server)],
  [
    'the service has lost its sites',
    {},
    MINUTE,
    ({ sandbox }) => sandbox.fault({ route: 'latest', answer: { kind: 'status', code: 403 }, times: 99 }),
  ],
  ['nothing keeps it back', {}, MINUTE],
];

describe('after a reset to its beginning', () => {
  for (const [what, input, afterMs, meanwhile] of CASES)
    test(
      `a run does not know whether it was started, nor does any of its deployments, if ${what}`,
      inVirtualTime(async (stack) => {
        const { run, siteIds } = await again(stack, input, afterMs, meanwhile);
        const { outcome, error, deployments } = await stack.result(run);
        assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown']);
        assert.match(error?.message ?? '', /was reset,? and may have sent/);
        assert.deepEqual(
          deployments.map((it) => [it.outcome, it.error?.type]),
          Array.from({ length: 2 }, () => ['unknown', 'OutcomeUnknown']),
        );
        for (const siteId of siteIds) assert.equal(deployPosts(stack, siteId), 1);
      }),
    );

  test(
    'a run that is cancelled at once ends unknown, because it may have deployed before',
    inVirtualTime(async (stack) => {
      const { run } = await again(stack, {}, MINUTE);
      stack.cancel(run);
      const { outcome, error, deployments } = await stack.result(run);
      assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown']);
      assert.deepEqual(
        deployments.map((it) => it.outcome),
        ['unknown', 'unknown'],
      );
    }),
  );

  test(
    'a watch that no worker took up in time still ends as not started, because it sends nothing',
    inVirtualTime(async (stack) => {
      const siteId = fresh('a');
      const first = stack.start({ siteIds: [siteId] }, { type: 'watchDeployment' });
      await stack.result(first);
      await stack.forward(11 * MINUTE);
      assert.equal((await stack.result(resetToBeginning(stack, first))).outcome, 'not_started');
    }),
  );

  test(
    'a rollout does not know whether its servers were started, if no worker took it up in time',
    inVirtualTime(async (stack) => {
      const first = begin(stack, servers(2));
      await stack.result(first);
      await stack.forward(11 * MINUTE);
      const result = await stack.result<RolloutResult>(resetToBeginning(stack, first));
      assert.deepEqual([result.outcome, result.error?.type], ['unknown', 'OutcomeUnknown']);
      assert.deepEqual(outcomesOf(result), ['unknown', 'unknown']);
    }),
  );

  test(
    'a rollout does not know whether a server that is held now was started',
    inVirtualTime(async (stack) => {
      const [first, held] = servers(2) as [ServerOfSites, ServerOfSites];
      stack.sandbox.script({ server: first.serverId }, { ends: 'never' });
      const rollout = begin(stack, [first, held], { maxAtOnce: 1 });
      await backsUp(stack, first.serverId);
      await hold(stack, rollout, held.serverId);
      rollout.firstRunId = 'the execution that was reset';
      stack.world.endWorkers();
      await stack.forward(MOMENT_MS);
      stack.world.addWorker();
      stack.sandbox.finish({ server: first.serverId }, 'completed');
      const { outcome, error, targets } = await stack.result<RolloutResult>(rollout);
      assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown']);
      assert.deepEqual(
        targets.map((it) => [it.outcome, it.error?.type]),
        [
          ['completed', undefined],
          ['unknown', 'OutcomeUnknown'],
        ],
      );
      assert.match(error?.message ?? '', /the workflow was reset, .*; held by event:panel:/);
    }),
  );
});
