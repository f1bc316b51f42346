/** What the pages of runs, rollouts and operations in the Temporal UI tell a person to do. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { servers } from '../../../support/rollouts.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { decide, endOfRollout } from '../../plays/start-rollout.ts';
import { freezeNow } from '../../stack/freeze-now.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import { ANNE, backsUp, begin, inFleet, reaches } from '../rollouts/rollouts-in-flight.ts';
import { isWaiting } from './freezes/frozen-waits.ts';
import { building } from './runs-that-wait.ts';

async function pageOf({ query }: VirtualStack, workflowId: string): Promise<string> {
  const page = await query<{ currentDetails: string }>(workflowId, '__temporal_workflow_metadata');
  return page.currentDetails;
}

/** Commands that make no sense once a run or rollout has ended. */
const WHILE_IN_PROGRESS = /belay (wait|cancel|rollout (pause|resume|abort))/;

describe('the page of a run', () => {
  test(
    'offers to wait for it and to stop it while it is in progress, and so does that of its operation',
    inVirtualTime(async (stack) => {
      const { run, operationId } = await building(stack);
      const page = await pageOf(stack, run.workflowId);
      assert.ok(page.includes(`\`npx belay-deploy wait ${run.workflowId}\``), page);
      assert.ok(page.includes(`\`npx belay-deploy cancel ${run.workflowId}\``), page);
      assert.ok((await pageOf(stack, operationId)).includes(`\`npx belay-deploy cancel ${run.workflowId}\``));
    }),
  );

  test(
    'says of a site that waits for the end of a freeze that it is frozen, not that it is in progress',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server);
      const siteId = siteAfter(stack.sandbox, FAILED, COMPLETED);
      const run = stack.start({ siteIds: [siteId], ifFrozen: 'wait' });
      await isWaiting(stack, { run });
      const page = await pageOf(stack, run.workflowId);
      assert.match(page, new RegExp(`^\\| site.*${siteId}.*\\| frozen\\s+\\|$`, 'm'));
      assert.doesNotMatch(page, /in progress/);
    }),
  );

  for (const [outcome, next] of [
    ['completed', null],
    ['failed', 'Start it again: repeat its command. If that has a key, add `--again`.'],
  ] as const) {
    test(
      `${next === null ? 'asks for nothing' : 'says how to start it again'} once it is ${outcome}`,
      inVirtualTime(async (stack) => {
        const siteId = siteAfter(stack.sandbox, null, { ...COMPLETED, ends: outcome });
        const run = stack.start({ siteIds: [siteId] });
        assert.equal((await stack.result(run)).outcome, outcome);
        const page = await pageOf(stack, run.workflowId);
        assert.doesNotMatch(page, WHILE_IN_PROGRESS);
        assert.equal(page.includes(next ?? 'again'), next !== null, page);
      }),
    );
  }

  test(
    'says to check the service before a run is started again whose request may have had an effect',
    inVirtualTime(async (stack) => {
      const { run, siteId } = await building(stack);
      stack.cancel(run);
      stack.sandbox.finish({ site: siteId }, 'completed');
      await stack.result(run);
      const page = await pageOf(stack, run.workflowId);
      assert.match(page, /Check the service first: .* Start it again: /);
      assert.doesNotMatch(page, WHILE_IN_PROGRESS);
    }),
  );

  test(
    'says to check the service if only a part of a failed run may still be in progress',
    inVirtualTime(async (stack) => {
      const failing = siteAfter(stack.sandbox, null, FAILED);
      const lasting = siteAfter(stack.sandbox, null, { ...COMPLETED, ends: 'never' });
      const deploy = { intervalMs: 10_000, tries: 10 };
      const run = stack.start({ siteIds: [failing, lasting], keepGoing: true, deploy });
      const { outcome, deployments } = await stack.result(run);
      assert.deepEqual([outcome, deployments[1]?.outcome], ['failed', 'timed_out']);
      assert.match(await pageOf(stack, run.workflowId), /Check the service first: .* Start it again: /);
    }),
  );
});

describe('the page of a rollout', () => {
  test(
    'offers what fits its phase: to pause or to resume, to abort, and to retry once it has ended',
    inFleet(async (stack) => {
      const targets = servers(2);
      const rollout = begin(stack, targets, { maxAtOnce: 1 });
      const { workflowId } = rollout;
      await backsUp(stack, targets[0].serverId);
      assert.match(await pageOf(stack, workflowId), new RegExp(`rollout pause ${workflowId} --reason TEXT`));
      await decide(stack, rollout, 'pause', ANNE);
      await reaches(stack, rollout, 'paused');
      const paused = await pageOf(stack, workflowId);
      assert.match(paused, new RegExp(`rollout resume ${workflowId} --reason TEXT.*rollout abort ${workflowId}`, 's'));
      assert.doesNotMatch(paused, /rollout pause/);
      await decide(stack, rollout, 'abort', ANNE);
      const { targets: ended } = await endOfRollout(stack, rollout);
      const page = await pageOf(stack, workflowId);
      assert.ok(page.includes(`\`npx belay-deploy rollout retry ${workflowId}\``), page);
      assert.doesNotMatch(page, WHILE_IN_PROGRESS);
      assert.equal(ended.length, 2);
    }),
  );

  test(
    'leads from the page of one of its runs to the retry of the rollout',
    inFleet(async (stack) => {
      const [target] = servers(1);
      const siteId = siteAfter(stack.sandbox, null, FAILED);
      const rollout = begin(stack, [{ ...target, siteIds: [siteId] }]);
      const { targets } = await endOfRollout(stack, rollout);
      const page = await pageOf(stack, targets[0]?.workflowId ?? '');
      assert.ok(
        page.includes(`\`npx belay-deploy rollout retry ${rollout.workflowId}\`, once its rollout has ended.`),
        page,
      );
    }),
  );
});
