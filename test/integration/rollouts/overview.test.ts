/** The runs and rollouts in flight, as `belay top` shows them. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { showOverview } from '../../../src/features/overview/show-in-flight.ts';
import { TIMING } from '../../../src/contract/timing.ts';
import { connect, type Belay, type InFlight } from '../../../src/starter.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { rolloutOf } from '../../support/rollouts.ts';
import { Keys, screenOf } from '../../support/screen.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { addWorker, fresh, type TestStack } from '../../support/world.ts';

/** After the early reads, nothing changes for ten minutes. */
const RARE = { intervalMs: 600_000, tries: 20 };

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/** @param calls gets the names of the calls to Temporal */
async function clientOn(taskQueue: string, calls: string[] = []): Promise<Belay> {
  const { address, namespace, uiUrl } = world;
  const count: Interceptor = (options, next) => {
    calls.push(String(options.method_definition.path.split('/').at(-1)));
    return next(options) as ReturnType<Interceptor>;
  };
  const connection = await Connection.connect({ address, connectTimeout: 120_000, interceptors: [count] });
  atEnd(() => connection.close());
  return connect({ connection, namespace, uiUrl, taskQueue });
}

/** The wait for a try that is far away. */
const isRare = ({ status: { waiting } }: InFlight) =>
  waiting?.kind === 'deployment' && Date.parse(waiting.nextReadAt) > Date.now() + 60_000;

test('an overview shows what waits for what on its queue, and first what no worker continues', async () => {
  const [taskQueue, siteId, serverId] = [fresh('queue'), fresh('a'), fresh('s')];
  world.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
  world.sandbox.script({ server: serverId }, { ends: 'never' });
  const worker = await addWorker(world, taskQueue, world.sandbox.url);
  const belay = await clientOn(taskQueue);
  assert.deepEqual(await belay.overview().whole(), { inFlight: [], total: 0, complete: true });

  const holder = await belay.start({ siteIds: [siteId], deploy: RARE });
  await eventually('the lock', async () => (await holder.status()).waiting?.kind === 'deployment');
  const waiter = await belay.start({ siteIds: [siteId], deploy: RARE });
  const rollout = await belay.rollouts.start(rolloutOf([{ serverId, siteIds: [fresh('a')] }]));
  const entry = ({ workflowId }: { workflowId: string }, inFlight: readonly InFlight[]) =>
    inFlight.find((it) => it.workflowId === workflowId);
  const { inFlight, total } = await eventually('all four', async () => {
    const seen = await belay.overview().whole();
    const [held, ...others] = [holder, waiter, rollout].map((it) => entry(it, seen.inFlight));
    const kinds = others.map((it) => it?.status.waiting?.kind);
    // A busy machine may read late, or leave a question without an answer.
    const isQuiet = seen.inFlight.every((it) => it.askedAt !== null && it.status.contact === 'answers');
    const isHeld = held !== undefined && isRare(held);
    return seen.total === 4 && isQuiet && isHeld && kinds.join() === 'lock,servers' ? seen : null;
  });
  const child = inFlight.find(({ workflowId }) => workflowId.startsWith(`backup-then-deploy:${serverId}:`));
  assert.ok(child !== undefined);
  assert.deepEqual(
    inFlight.map(({ workflowId }) => workflowId),
    [rollout, child, waiter, holder].map(({ workflowId }) => workflowId),
  );
  assert.deepEqual(
    inFlight.map((it) => [it.needsAttention, it.askedAt !== null, it.status.contact]),
    Array.from({ length: 4 }, () => [false, true, 'answers']),
  );
  assert.equal(total, 4);
  const limited = await belay.overview({ limit: 1 }).whole();
  assert.deepEqual([limited.inFlight.length, limited.total], [1, 4]);

  const [screen, keys] = [screenOf({ columns: 200 }), new Keys()];
  const shown = showOverview(belay.overview(), 'here', { output: screen.stream, input: keys.stream });
  const row = (start: string, sentence: string) =>
    eventually(sentence, () => screen.rows().some((it) => it.startsWith(start) && it.includes(sentence)));
  await row('4 in flight on here', 'Press q to quit.');
  await row(holder.workflowId, `deployment of ${siteId}: try 1 of 20, last status "building", next read in `);
  await row(waiter.workflowId, `waiting for the lock "deploy-site:${siteId}", held by "${holder.workflowId}"`);

  await worker.stop();
  const needy = await eventually('no worker for what should have been read', async () => {
    const seen = (await belay.overview().whole()).inFlight;
    return [child, rollout, waiter].every((it) => entry(it, seen)?.status.contact === 'silent') && seen;
  });
  // For ten minutes the records of the holder show nothing but that it waits for its next read.
  assert.deepEqual(
    needy.map((it) => [it.workflowId, it.needsAttention, it.status.contact]),
    [
      ...[child, rollout, waiter].map(({ workflowId }) => [workflowId, true, 'silent']),
      [holder.workflowId, false, 'answers'],
    ],
  );
  await row('4 in flight, ', 'need attention');
  keys.press('q');
  assert.equal(await shown, 0);
  for (const { workflowId } of inFlight)
    await world.client.workflow.getHandle(workflowId).terminate('the test is over');
});

test('an overview that is refreshed all the time asks about ten runs at a time, and rarely about the same', async () => {
  const [taskQueue, calls] = [fresh('queue'), [] as string[]];
  const ids = Array.from({ length: 12 }, () => fresh('deploy:a1:k'));
  const start = (workflowId: string) =>
    world.client.workflow.start('deployOnly', { workflowId, taskQueue, args: [{ siteIds: ['a1'] }] });
  const handles = await Promise.all(ids.map(start));
  const belay = await clientOn(taskQueue, calls);
  const count = (name: string) => calls.filter((it) => it === name).length;
  await eventually('all in the list', async () => (await belay.overview({ limit: 1 }).whole()).total === ids.length);
  calls.length = 0;
  const startedMs = performance.now();
  const overview = belay.overview();
  const asked = async () => (await overview.refresh()).inFlight.filter(({ askedAt }) => askedAt !== null).length;
  assert.deepEqual([await asked(), count('DescribeWorkflowExecution')], [10, 10]);
  assert.equal(await asked(), 12);
  for (let refreshes = 0; refreshes < 20; refreshes += 1) await overview.refresh();
  const tookMs = performance.now() - startedMs;
  const within = (pauseMs: number) => 1 + Math.floor(tookMs / pauseMs);
  assert.ok(count('ListWorkflowExecutions') <= within(TIMING.overview.listMs), calls.join());
  assert.ok(count('DescribeWorkflowExecution') <= ids.length * within(TIMING.overview.leastPauseMs), calls.join());
  // No worker has begun them, so there is no history to read and no one to ask.
  assert.deepEqual([...new Set(calls)].sort(), ['DescribeWorkflowExecution', 'ListWorkflowExecutions']);
  await Promise.all(handles.map((handle) => handle.terminate('the test is over')));
});
