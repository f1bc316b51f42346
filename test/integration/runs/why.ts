import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { queuedFor } from '../../support/queued.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { fresh, startTestStack, type TestStack } from '../../support/world.ts';
import { QUERIES } from '../../../src/contract/names.ts';
import type { Explanation } from '../../../src/contract/waiting.ts';

const PACE = { intervalMs: 60_000, tries: 30 };

let world: TestStack;
before(async () => {
  world = await startTestStack({
    defaults: { deployment: { ends: 'never', words: ['building'] }, backup: { ends: 'never' } },
  });
});

/** Asks with the query that every kind of workflow answers. */
const why = (workflowId: string): Promise<Explanation> =>
  world.client.workflow.getHandle(workflowId).query<Explanation>(QUERIES.why);

test('a run that waits for a lock reports the lock and its holder, also in the details of the UI', async () => {
  const siteId = fresh('a');
  const holder = await world.belay.start({ siteIds: [siteId], deploy: PACE });
  await eventually('the deployment', () => began(world.sandbox, 'deployment', siteId).length === 1);
  const waiter = await world.belay.start({ siteIds: [siteId], deploy: PACE });
  await queuedFor(waiter);
  const reply = await eventually('the holder', async () => {
    const answer = await why(waiter.workflowId);
    return answer.waiting?.kind === 'lock' && answer.waiting.lockedBy ? answer : null;
  });
  const lock = deploySiteId(siteId);
  assert.equal(
    reply.sentence,
    `deployment of ${siteId}: waiting for the lock "${lock}", held by "${holder.workflowId}"`,
  );
  assert.ok(reply.waiting?.kind === 'lock');
  assert.deepEqual([reply.waiting.lockId, reply.waiting.lockedBy], [lock, holder.workflowId]);
  const details = await world.client.workflow
    .getHandle(waiter.workflowId)
    .query<{ currentDetails: string }>('__temporal_workflow_metadata');
  assert.match(
    details.currentDetails,
    new RegExp(`waiting for the lock \`${lock}\`, held by \`${holder.workflowId}\``),
  );
});

test('an operation reports its current try, its last status and the time of the next read', async () => {
  const siteId = fresh('a');
  const run = await world.belay.start({ siteIds: [siteId], deploy: PACE });
  const reply = await eventually('a read', async () => {
    const answer = await why(deploySiteId(siteId)).catch(() => null);
    return answer?.waiting?.kind === 'deployment' && answer.waiting.lastStatus !== null ? answer : null;
  });
  assert.match(
    reply.sentence,
    new RegExp(`^deployment of ${siteId}: try 1 of 30, last status "building", next read at 20`),
  );
  assert.match(
    (await why(run.workflowId)).sentence,
    new RegExp(`^deployment of ${siteId}: handled by workflow deploy-site:${siteId}$`),
  );
});

test('a rollout reports how many servers are running, or who paused or stopped it and why', async () => {
  const [target] = servers(1);
  const rollout = await world.belay.rollouts.start(rolloutOf([target]));
  await eventually('the backup', () => began(world.sandbox, 'backup', target.serverId).length === 1);
  const running = await why(rollout.workflowId);
  assert.equal(running.sentence, `1 of at most 2 servers running ("${target.serverId}"), 0 pending`);
  await rollout.pause({ by: 'anne', reason: 'the shop is slow' });
  const paused = await why(rollout.workflowId);
  assert.equal(paused.sentence, 'paused by "anne" because "the shop is slow": resume or abort it');
  assert.ok(paused.waiting?.kind === 'decision');
  await rollout.abort({ by: 'anne', reason: 'enough' });
  const stopped = `stopped by "anne" because "enough": 1 still running ("${target.serverId}"), no more servers start`;
  assert.equal((await why(rollout.workflowId)).sentence, stopped);
  world.sandbox.finish({ server: target.serverId }, 'failed');
  await endOf(rollout);
  assert.match((await why(rollout.workflowId)).sentence, /^not waiting: failed$/);
});
