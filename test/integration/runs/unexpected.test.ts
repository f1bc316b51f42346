import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { connectTo } from '../../support/connect.ts';
import { exitCodeOfResult } from '../../../src/contract/errors.ts';
import { testBundle } from '../../support/workflow-bundle.ts';
import { atEnd } from '../../support/at-end.ts';
import { NO_REPORTS } from '../../support/no-reports.ts';
import { resultOf } from '../../support/outcome.ts';
import { newPlace } from '../../support/shared-temporal.ts';
import { belayOn, fresh, TASK_QUEUE } from '../../support/world.ts';
import { checkRequest } from '../../../src/activities/fact.ts';
import type { ReadResult, WorkerInfo, WorkerQuestion } from '../../../src/contract/activities.ts';
import type { Belay } from '../../../src/starter.ts';

const SERVICE = 'https://service.example';
const PACE = { intervalMs: 200, tries: 10 };

let belay: Belay;
let client: Client;
/** The answers of the next reads in order; the last one repeats. */
let reads: unknown[] = [];
const WORKER_INFO: WorkerInfo = {
  service: SERVICE,
  formerly: [],
  epoch: '1',
  statuses: { deployment: {}, backup: {} },
  searchAttributes: false,
};

let posts = 0;
let checks = true;

/** Runs the real workflows on activities that return values our code never returns. */
before(async () => {
  const { address, namespace } = await newPlace();
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue: TASK_QUEUE,
    ...NO_REPORTS,
    workflowBundle: await testBundle(),
    activities: {
      describeWorker: ({ request }: Required<WorkerQuestion>) =>
        Promise.resolve({ ...WORKER_INFO, ...(checks ? { checked: checkRequest(request) } : {}) }),
      readLatestDeployment: () => Promise.resolve(reads.length > 1 ? reads.shift() : reads[0]),
      triggerDeployment: () => Promise.resolve({ posts: (posts += 1) }),
    },
  });
  const ended = worker.run().finally(() => connection.close());
  atEnd(() => (worker.shutdown(), ended));
  const own = await connectTo(address);
  atEnd(() => own.close());
  client = new Client({ connection: own, namespace });
  belay = await belayOn({ client, namespace }, TASK_QUEUE);
});

const status = (word: string, state: string): ReadResult => ({ ok: true, status: word, state }) as ReadResult;

test('an unexpected value fails the run as Internal with exit code 70 and releases the lock', async () => {
  const siteId = fresh('a');
  for (const rubbish of [undefined, null]) {
    reads = [status('failed', 'failed'), status('failed', 'failed'), rubbish];
    const result = await resultOf(await belay.start({ siteIds: [siteId], deploy: PACE }));
    assert.deepEqual([result.outcome, result.error?.type, exitCodeOfResult(result)], [null, 'Internal', 70]);
  }
  reads = [status('failed', 'failed'), status('failed', 'failed'), status('completed', 'completed')];
  const sent = posts;
  assert.equal((await resultOf(await belay.start({ siteIds: [siteId], deploy: PACE }))).outcome, 'completed');
  assert.equal(posts, sent + 1);
});

test('a run whose input no worker has checked fails as Internal, and sends nothing', async () => {
  const sent = posts;
  checks = false;
  const result = await resultOf(await belay.start({ siteIds: [fresh('a')], deploy: PACE }));
  checks = true;
  assert.deepEqual([result.outcome, result.error?.type, exitCodeOfResult(result)], [null, 'Internal', 70]);
  assert.equal(posts, sent);
});

test('a run starts without search attributes if the namespace has none', async () => {
  reads = [status('failed', 'failed'), status('failed', 'failed'), status('completed', 'completed')];
  const run = await belay.start({ siteIds: [fresh('a')], deploy: PACE });
  await run.result();
  const { events } = await client.workflow.getHandle(run.workflowId).fetchHistory();
  const start = events?.[0]?.workflowExecutionStartedEventAttributes;
  assert.deepEqual(Object.keys(start?.searchAttributes?.indexedFields ?? {}), []);
});

test('a failure in a history has its message, and no frame of a stack', async () => {
  const siteId = fresh('a');
  reads = [status('failed', 'failed'), status('failed', 'failed'), null];
  const { error, workflowId } = await resultOf(await belay.start({ siteIds: [siteId], deploy: PACE }));
  assert.match(error?.message ?? '', /^TypeError: .*null/);
  const { events } = await client.workflow.getHandle(workflowId ?? '').fetchHistory();
  const failure = events?.at(-1)?.workflowExecutionFailedEventAttributes?.failure;
  assert.equal(failure?.message, error?.message);
  assert.doesNotMatch(failure?.stackTrace ?? '', /^\s*at /m);
});
