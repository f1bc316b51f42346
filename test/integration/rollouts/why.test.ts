/** What a rollout answers to the query `why`. Runs and operations are in test/sim/rules/runs/why.test.ts. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import type { TestStack } from '../../support/world.ts';
import { QUERIES } from '../../../src/contract/names.ts';
import type { Explanation } from '../../../src/contract/waiting.ts';

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

/** Asks with the query that every kind of workflow answers. */
const why = (workflowId: string): Promise<Explanation> =>
  world.client.workflow.getHandle(workflowId).query<Explanation>(QUERIES.why);

test('a rollout reports how many servers are running, or who paused or stopped it and why', async () => {
  const [target] = servers(1);
  world.sandbox.script({ server: target.serverId }, { ends: 'never' });
  const rollout = await world.belay.rollouts.start(rolloutOf([target]));
  await eventually('the backup', () => began(world.sandbox, 'backup', target.serverId).length === 1);
  const running = await why(rollout.workflowId);
  assert.equal(running.sentence, `1 of at most 2 servers running ("${target.serverId}"), 0 pending`);
  await rollout.pause({ by: 'anne', reason: 'the shop is slow' });
  const paused = await why(rollout.workflowId);
  const resume = `\`belay rollout resume ${rollout.workflowId} --reason TEXT\``;
  assert.equal(paused.sentence, `paused by "anne" because "the shop is slow": resume it with ${resume}, or abort it`);
  assert.ok(paused.waiting?.kind === 'decision');
  const page = await world.client.workflow
    .getHandle(rollout.workflowId)
    .query<{ currentDetails: string }>('__temporal_workflow_metadata');
  assert.match(page.currentDetails, /^\*\*paused\*\* by `anne` because `the shop is slow`: resume or abort it\n/);
  assert.match(page.currentDetails, new RegExp(`\\| \\[\`${target.serverId}\`\\]\\(namespaces/.*in progress`));
  await rollout.abort({ by: 'anne', reason: 'enough' });
  const stopped = `stopped by "anne" because "enough": 1 still running ("${target.serverId}"), no more servers start`;
  assert.equal((await why(rollout.workflowId)).sentence, stopped);
  world.sandbox.finish({ server: target.serverId }, 'failed');
  await endOf(rollout);
  assert.match((await why(rollout.workflowId)).sentence, /^not waiting: failed$/);
});
