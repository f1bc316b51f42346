import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import { QUERIES } from '../../../src/contract/run.ts';
import type { Why } from '../../../src/contract/rollout.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { queuedFor } from '../../support/queued.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { fresh, startWorld, type World } from '../../support/world.ts';

const PACE = { intervalMs: 60_000, tries: 30 };

let world: World;
before(async () => {
  world = await startWorld({
    defaults: { deployment: { ends: 'never', words: ['building'] }, backup: { ends: 'never' } },
  });
});

/** By the one query every kind of workflow answers. */
const why = (workflowId: string): Promise<Why> => world.client.workflow.getHandle(workflowId).query<Why>(QUERIES.why);

test('a run that waits for a lock says for which, and which run holds it; so do the details in the UI', async () => {
  const siteId = fresh('a');
  const holder = await world.belay.start({ siteIds: [siteId], deploy: PACE });
  await eventually('the deployment', () => began(world.sandbox, 'deployment', siteId).length === 1);
  const waiter = await world.belay.start({ siteIds: [siteId], deploy: PACE });
  await queuedFor(waiter);
  const told = await eventually('the holder', async () => {
    const answer = await why(waiter.workflowId);
    return answer.waiting?.for === 'lock' && answer.waiting.heldBy ? answer : null;
  });
  const lock = deploySiteId(siteId);
  assert.equal(told.sentence, `deployment of ${siteId}: waits for the lock "${lock}", held by "${holder.workflowId}"`);
  assert.ok(told.waiting?.for === 'lock');
  assert.deepEqual([told.waiting.lockId, told.waiting.heldBy], [lock, holder.workflowId]);
  const details = await world.client.workflow
    .getHandle(waiter.workflowId)
    .query<{ currentDetails: string }>('__temporal_workflow_metadata');
  assert.match(details.currentDetails, new RegExp(`waits for the lock \`${lock}\`, held by \`${holder.workflowId}\``));
});

test('an operation says at which try it is, what was read last, and when the next read is', async () => {
  const siteId = fresh('a');
  const run = await world.belay.start({ siteIds: [siteId], deploy: PACE });
  const told = await eventually('a read', async () => {
    const answer = await why(deploySiteId(siteId)).catch(() => null);
    return answer?.waiting?.for === 'deployment' && answer.waiting.lastStatus !== null ? answer : null;
  });
  assert.match(told.sentence, new RegExp(`^deployment of ${siteId}: try 1 of 30, last "building", next read at 20`));
  assert.match(
    (await why(run.workflowId)).sentence,
    new RegExp(`^deployment of ${siteId} is followed by deploy-site:${siteId}$`),
  );
});

test('a rollout says how many servers are under way, or who paused or stopped it because of what', async () => {
  const [target] = servers(1);
  const rollout = await world.belay.rollouts.start(rolloutOf([target]));
  await eventually('the backup', () => began(world.sandbox, 'backup', target.serverId).length === 1);
  const running = await why(rollout.workflowId);
  assert.equal(running.sentence, `1 of at most 2 servers under way ("${target.serverId}"), 0 to come`);
  await rollout.pause({ by: 'anne', why: 'the shop is slow' });
  const paused = await why(rollout.workflowId);
  assert.equal(paused.sentence, 'paused by "anne" because "the shop is slow": resume or abort it');
  assert.ok(paused.waiting?.for === 'decision');
  await rollout.abort({ by: 'anne', why: 'enough' });
  const stopped = `stopped by "anne" because "enough": 1 still under way ("${target.serverId}"), nothing more begins`;
  assert.equal((await why(rollout.workflowId)).sentence, stopped);
  world.sandbox.finish({ server: target.serverId }, 'failed');
  await endOf(rollout);
  assert.match((await why(rollout.workflowId)).sentence, /^nothing is waited for: failed$/);
});
