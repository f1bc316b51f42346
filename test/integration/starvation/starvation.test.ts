import '../../support/timing/use-hanging.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { Client, type WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { ASKS_AGAIN } from '../../../src/client/ask-again.ts';
import { isLimited, isUnanswered } from '../../../src/client/transport/grpc-errors.ts';
import { backupServerId, deploySiteId } from '../../../src/contract/ids.ts';
import { QUERIES, UNTIMELY_QUERY } from '../../../src/contract/names.ts';
import type { RunProgress } from '../../../src/contract/run.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts, reads } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { replayLater } from '../../support/replay-later.ts';
import { workerLog } from '../../support/runtime.ts';
import { addWorker, fresh, startTestStack, TASK_QUEUE, type TestStack } from '../../support/world.ts';

const STARTED = proto.temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_STARTED;
/** More than the slots for activities that the SDK gives a worker by default. */
const HANGING = 110;
/** So rare that only hints cause reads. */
const RARE = { intervalMs: 600_000, tries: 100 };
/** A flood uses up the hinted reads, and then only a due read sees the end. */
const DUE = { intervalMs: 30_000, tries: 100 };
/** On a busy machine, a request may remain unsent. The next one follows after an interval. */
const BEGUN_WITHIN_MS = 15 * 60_000;
const ROUNDS = 30;

let world: TestStack;
/** The only worker of the moment. */
let worker: TestStack['worker'];
replayLater('starvation', () => world.client, 3);
before(async () => {
  world = await startTestStack({ defaults: { backup: { ends: 'never' }, deployment: { durationMs: 500 } } });
  ({ worker } = world);
});

async function elapsedMs(what: () => Promise<unknown>): Promise<number> {
  const startedMs = Date.now();
  await what();
  return Date.now() - startedMs;
}

const operationOf = (serverId: string) => world.client.workflow.getHandle(backupServerId(serverId));
const readsOf = (backupId: string) => reads(world.sandbox, `/v1/backups/${backupId}`);
const hint = (serverId: string) => operationOf(serverId).signal('hint');

/** As Belay's own clients ask. */
function askingClient(): Client {
  const { connection, options } = world.client;
  return new Client({ connection, namespace: options.namespace, interceptors: ASKS_AGAIN });
}

/** How many queries workers refused. */
const untimely = () => workerLog().split(UNTIMELY_QUERY).length - 1;

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

/** On a slow machine, Temporal may end or refuse a query that no worker has answered. */
function unlessUnanswered(error: Error): void {
  if (!isUnanswered(error) && !isLimited(error)) throw error;
}

test('a flood of queries and hints fails no task of a run, and costs it neither its verdict nor a second request', async (t) => {
  const siteId = fresh('a');
  world.sandbox.script({ site: siteId }, { words: ['building'], ends: 'never' });
  const handle = await world.belay.start({ siteIds: [siteId], deploy: DUE });
  const { sandbox } = world;
  const client = askingClient();
  const flooded = [handle.workflowId, deploySiteId(siteId)].map((id) => client.workflow.getHandle(id));
  await eventually('the request', () => posts(sandbox, `/v1/sites/${siteId}/deploy`).length > 0);
  let [answered, isOver] = [0, false];
  const ask = (it: WorkflowHandle) => it.query(QUERIES.progress).then(() => (answered += 1), unlessUnanswered);
  const flood = async ([run, operation]: typeof flooded) => {
    while (!isOver) {
      await Promise.all([ask(run!), ask(operation!)]);
      // The operation ends before the flood does.
      await operation!.signal('hint').catch((error: Error) => assert.equal(error.name, 'WorkflowNotFoundError'));
    }
  };
  const asking = Promise.all(Array.from({ length: 10 }, () => flood(flooded).finally(() => (isOver = true))));
  await eventually('a thousand answers', () => answered > 1_000 || isOver);
  sandbox.finish({ site: siteId }, 'completed');
  const { outcome } = await resultOf(handle);
  isOver = true;
  await asking;
  assert.equal(outcome, 'completed');
  assert.equal(posts(sandbox, `/v1/sites/${siteId}/deploy`).length, 1);
  for (const it of flooded) {
    const { events } = await it.fetchHistory();
    const failed = events?.flatMap(({ workflowTaskFailedEventAttributes: its }) => its?.failure?.message ?? []) ?? [];
    // Temporal fails a task during which a signal arrived before the end of the workflow.
    assert.deepEqual(
      failed.filter((message) => message !== 'UnhandledCommand'),
      [],
      it.workflowId,
    );
  }
  t.diagnostic(`queries that were asked again: ${untimely()}`);
});

test('queries that wait for a worker beside a hint are answered, and the operation goes on', async () => {
  const serverId = fresh('s');
  const backupId = await backupOf(serverId);
  const client = askingClient();
  const operation = client.workflow.getHandle(backupServerId(serverId));
  const ask = () => client.withDeadline(Date.now() + BEGUN_WITHIN_MS, () => operation.query(QUERIES.progress));
  // Whether the worker gets a query or the task first is up to Temporal.
  for (let round = 0; untimely() === 0 && round < ROUNDS; round += 1) {
    await ask();
    await worker.stop();
    const asked = Promise.all(Array.from({ length: 10 }, ask));
    await hint(serverId);
    worker = await addWorker(world, TASK_QUEUE, world.sandbox.url);
    await asked;
  }
  assert.notEqual(untimely(), 0);
  const before = readsOf(backupId).length;
  await hint(serverId);
  await eventually('a read', () => readsOf(backupId).length > before);
});

test('the first query after the first task of a new worker is refused, and the next one is answered', async () => {
  const siteId = fresh('a');
  world.sandbox.script({ site: siteId }, { words: ['building'], ends: 'never' });
  const { workflowId } = await world.belay.start({ siteIds: [siteId], deploy: RARE });
  const handle = world.client.workflow.getHandle(workflowId);
  await eventually('the request', () => posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length > 0);
  await worker.stop();
  await handle.signal('hint');
  worker = await addWorker(world, TASK_QUEUE, world.sandbox.url);
  await eventually('its task', async () => {
    const { events } = await handle.fetchHistory();
    return events?.at(-1)?.workflowTaskCompletedEventAttributes;
  });
  const query = () => handle.query<RunProgress>(QUERIES.progress);
  // `ASKS_AGAIN` knows it by this error.
  await assert.rejects(query(), { name: 'QueryNotRegisteredError', message: UNTIMELY_QUERY });
  assert.equal((await query()).result.workflowId, workflowId);
});
