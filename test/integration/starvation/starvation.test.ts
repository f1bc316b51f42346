import '../../support/timing/use-hanging.ts';
import { before, test } from 'node:test';
import proto from '@temporalio/proto';
import { backupServerId } from '../../../src/contract/ids.ts';
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

/** A run of ten sites, which it all reads at once before it does anything else. */
async function startTen() {
  const siteIds = Array.from({ length: 10 }, () => fresh('a'));
  for (const target of siteIds) world.sandbox.fault({ route: 'latest', target, times: 100, answer: { kind: 'none' } });
  const { workflowId } = await world.belay.start({ siteIds, deploy: RARE });
  return { siteIds, handle: world.client.workflow.getHandle(workflowId) };
}

test('more than a hundred reads that hang at once block no hint, query or other run', async (t) => {
  const before = await measure();
  const runs = await Promise.all(Array.from({ length: HANGING / 10 }, startTen));
  // A quick read that hangs is followed by a patient one, which hangs for good. On a busy machine, the quick one may end
  // before it is sent.
  for (const { siteIds, handle } of runs) {
    await eventually('ten patient reads', async () => {
      const { raw } = await handle.describe();
      const taken = raw.pendingActivities?.filter(({ state }) => state === STARTED);
      const isRead = (siteId: string) => reads(world.sandbox, `/v1/sites/${siteId}/deployments/latest`).length > 0;
      return taken?.length === siteIds.length && siteIds.every(isRead);
    });
  }
  const during = await measure();
  const ownQuery = await elapsedMs(() => runs[0]!.handle.query(QUERIES.progress));
  t.diagnostic(`undisturbed: ${JSON.stringify(before)} ms; among ${HANGING} that hang: ${JSON.stringify(during)} ms`);
  t.diagnostic(`a query to one of those that hang: ${ownQuery} ms`);
});
