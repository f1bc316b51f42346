import { before, test } from 'node:test';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { backupServerId } from '../../../src/contract/ids/workflow-ids.ts';
import { QUERIES } from '../../../src/contract/names.ts';
import { eventually } from '../../support/eventually.ts';
import { began, reads } from '../../support/journal.ts';
import { fresh, startTestStack, type TestStack } from '../../support/world.ts';

const STARTED = proto.temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_STARTED;
/** More than the slots for activities that the SDK gives a worker by default. */
const HANGING = 110;
/** So rare that only hints cause reads. */
const RARE = { intervalMs: 600_000, tries: 100 };
/** On a busy machine, a request may remain unsent. The next one follows after an interval. */
const BEGUN_WITHIN_MS = 15 * 60_000;

let world: TestStack;
before(async () => {
  world = await startTestStack({ defaults: { backup: { ends: 'never' }, deployment: { durationMs: 500 } } });
});

async function elapsedMs(what: () => Promise<unknown>): Promise<number> {
  const startedMs = Date.now();
  await what();
  return Date.now() - startedMs;
}

const operationOf = (serverId: string) => world.client.workflow.getHandle(backupServerId(serverId));
const readsOf = (backupId: string) => reads(world.sandbox, `/v1/backups/${backupId}`);
const hint = (serverId: string) => operationOf(serverId).signal('hint');

/** Times a run, a hint until its read, and a query. Each must end, whatever else hangs. */
async function measure(): Promise<Record<'run' | 'hint' | 'query', number>> {
  const [siteId, serverId] = [fresh('a'), fresh('s')];
  const backupId = await backupOf(serverId);
  const query = await elapsedMs(() => operationOf(serverId).query(QUERIES.progress));
  const hinted = await elapsedMs(async () => {
    await hint(serverId);
    await eventually('the hinted read', () => readsOf(backupId).length > 0);
  });
  const run = await elapsedMs(async () => {
    const deploying = await world.belay.start({ siteIds: [siteId], deploy: { intervalMs: 500, tries: 100 } });
    await deploying.result();
  });
  return { run, hint: hinted, query };
}

async function backupOf(serverId: string): Promise<string> {
  await world.belay.start({ serverId, siteIds: [], backup: RARE });
  const backupId = () => began(world.sandbox, 'backup', serverId)[0]?.began?.id;
  return eventually('the backup', backupId, BEGUN_WITHIN_MS);
}

/** A run that only reads: one workflow for each read that hangs. */
async function watch(siteId: string): Promise<WorkflowHandle> {
  const { workflowId } = await world.belay.start({ siteIds: [siteId], deploy: RARE }, { type: 'watchDeployment' });
  return world.client.workflow.getHandle(workflowId);
}

test('more than a hundred reads that hang at once block no hint, query or other run', async (t) => {
  const before = await measure();
  const sites = Array.from({ length: HANGING }, () => fresh('a'));
  for (const target of sites) world.sandbox.fault({ route: 'latest', target, times: 100, answer: { kind: 'none' } });
  const watches = await Promise.all(sites.map(watch));
  // A quick read that hangs is followed by a patient one, which hangs for good. On a busy machine, the quick one may end
  // before it is sent.
  for (const [index, siteId] of sites.entries()) {
    await eventually('a patient read', async () => {
      const { raw } = await watches[index]!.describe();
      const isTaken = raw.pendingActivities?.some(({ state }) => state === STARTED);
      return isTaken && reads(world.sandbox, `/v1/sites/${siteId}/deployments/latest`).length > 0;
    });
  }
  const during = await measure();
  const ownQuery = await elapsedMs(() => watches[0]!.query(QUERIES.progress));
  t.diagnostic(`undisturbed: ${JSON.stringify(before)} ms; among ${HANGING} that hang: ${JSON.stringify(during)} ms`);
  t.diagnostic(`a query to one of those that hang: ${ownQuery} ms`);
});
