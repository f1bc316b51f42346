import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { exitCodeOf } from '../../../src/cli/output/exit-codes.ts';
import { SIGNALS, type ReadResult } from '../../../src/contract/run.ts';
import { deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import { connect, type Belay } from '../../../src/starter.ts';
import { WORKFLOW_BUNDLE } from '../../../src/worker/start.ts';
import { createLogger } from '../../../src/process/log.ts';
import { installRuntime } from '../../../src/worker/sdk-logging.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { resultOf } from '../../support/outcome.ts';
import { startTemporal } from '../../support/temporal.ts';
import { fresh, TASK_QUEUE } from '../../support/world.ts';

const SERVICE = 'https://service.example';
const PACE = { intervalMs: 200, tries: 10 };

let belay: Belay;
let client: Client;
/** What the next reads give, one after the other; the last one stays. */
let reads: unknown[] = [];
let posts = 0;

/** The real workflows on activities that give what no code of ours ever would. */
before(async () => {
  const { address } = await startTemporal();
  installRuntime(createLogger('silent'));
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue: TASK_QUEUE,
    workflowBundle: WORKFLOW_BUNDLE,
    activities: {
      describeWorker: () => Promise.resolve({ service: SERVICE, searchAttributes: false }),
      readLatestDeployment: () => Promise.resolve(reads.length > 1 ? reads.shift() : reads[0]),
      triggerDeployment: () => Promise.resolve({ marks: [], posts: (posts += 1) }),
    },
  });
  const ended = worker.run().finally(() => connection.close());
  atEnd(() => (worker.shutdown(), ended));
  const own = await Connection.connect({ address });
  atEnd(() => own.close());
  client = new Client({ connection: own });
  belay = await connect({ connection: own, taskQueue: TASK_QUEUE });
});

const status = (word: string, state: string): ReadResult =>
  ({ ok: true, status: word, state, marks: [] }) as ReadResult;

test('what no code expects fails the run as Internal, exit 70, and holds no lock', async () => {
  const siteId = fresh('a');
  for (const rubbish of [undefined, null]) {
    reads = [status('failed', 'failed'), status('failed', 'failed'), rubbish];
    const result = await resultOf(await belay.start({ siteIds: [siteId], deploy: PACE }));
    assert.deepEqual([result.outcome, result.error?.type, exitCodeOf(result)], [null, 'Internal', 70]);
  }
  reads = [status('failed', 'failed'), status('failed', 'failed'), status('completed', 'completed')];
  const sent = posts;
  assert.equal((await resultOf(await belay.start({ siteIds: [siteId], deploy: PACE }))).outcome, 'completed');
  assert.equal(posts, sent + 1);
});

test('messages that are no messages of ours are left out: the run goes on', async () => {
  const siteId = fresh('a');
  reads = [status('failed', 'failed'), status('failed', 'failed'), status('building', 'in_progress')];
  const run = await belay.start({ siteIds: [siteId], deploy: { intervalMs: 200, tries: 200 } });
  const operation = client.workflow.getHandle(deploySiteId(siteId));
  const rubbish = [[], [null], ['x'], [{}], [{ waiters: 'x' }], [{ waiters: [null, {}, { workflowId: 1 }] }]];
  await eventually('the operation', () =>
    operation.describe().then(
      () => true,
      () => false,
    ),
  );
  for (const args of rubbish) {
    for (const name of Object.values(SIGNALS)) {
      await operation.signal(name, ...args);
      await client.workflow.getHandle(run.workflowId).signal(name, ...args);
    }
  }
  reads = [status('completed', 'completed')];
  assert.equal((await resultOf(run)).outcome, 'completed');
});
