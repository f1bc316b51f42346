/**
 * Events and locks on a Temporal server of their own: it goes down and comes back, and allows few signals. Its histories
 * are not replayed.
 */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { Client } from '@temporalio/client';
import { eventTaskQueue } from '../../../src/contract/names.ts';
import { backupServerId, eventId } from '../../../src/contract/ids.ts';
import type { EventResult } from '../../../src/features/events/shapes.ts';
import { connect, type Belay } from '../../../src/starter.ts';
import { atEnd } from '../../support/at-end.ts';
import { connectTo } from '../../support/connect.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts, reads } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { queuedFor } from '../../support/queued.ts';
import { startReceiver } from '../../support/receiver.ts';
import { executableWith, startDurableTemporal } from '../../support/temporal.ts';
import { addWorker, fresh, TASK_QUEUE } from '../../support/world.ts';
import { eventStack, notifiedOf, type EventStack } from './shared.ts';

const LIMIT = 20;
const BACKUP = { intervalMs: 1_000, tries: 1_000 };
const ALERT = { type: 'alert.fired', data: { message: 'disk full' } };

let world: EventStack;
let temporal: Awaited<ReturnType<typeof startDurableTemporal>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;

before(async () => {
  world = await eventStack();
  const limit = ['--dynamic-config-value', `history.maximumSignalsPerExecution=${LIMIT}`];
  temporal = await startDurableTemporal({ executable: await executableWith(limit) });
  receiver = await startReceiver(place());
});

const place = () => ({ address: temporal.server.address, namespace: 'default' });

const deliveredAgain = (status: number) => status !== 503 && status;

let worker: Promise<unknown> | undefined;
const startWorkerOnce = () => (worker ??= addWorker(place(), TASK_QUEUE, world.sandbox.url, world.configuration));

test('the receiver answers 503 without Temporal and handles the retried deliveries when it is back', async () => {
  const deliver = (id: string) => receiver.deliver(ALERT, { id });
  const ids = Array.from({ length: 10 }, (_, index) => `down${index}`);
  const deliverAll = async () => Promise.all(ids.map(deliver));
  // Temporal has just started, and may be slow to store it. Then a sender tries again.
  await eventually('the first delivery', async () => (await deliver('before')).status !== 503);
  const statusOf = async (path: string) => (await fetch(`${receiver.url}/${path}`)).status;
  const look = async () => [await statusOf('healthz'), await statusOf('readyz')];
  assert.deepEqual(
    await eventually('its readiness', async () => {
      const seen = await look();
      return seen[1] === 200 && seen;
    }),
    [200, 200],
  );
  process.kill(temporal.server.pid, 'SIGKILL');
  await temporal.server.ended;
  for (const { status, headers } of await deliverAll())
    assert.deepEqual([status, headers.get('retry-after')], [503, '10']);
  assert.deepEqual(
    await eventually('the loss', async () => {
      const seen = await look();
      return seen[1] === 503 && seen;
    }),
    [200, 503],
  );
  await temporal.restart();
  await eventually('Temporal', async () => (await look())[1] === 200);
  // An answer that comes too late is 503 as well, although the event is stored.
  await eventually('all deliveries', async () => (await deliverAll()).every(({ status }) => status < 300));
  assert.equal(await eventually('a duplicate', async () => deliveredAgain((await deliver('before')).status)), 200);
  await startWorkerOnce();
  const all = [...ids, 'before'].map((id) => eventId('panel', id)).toSorted();
  await eventually('their handling', () => notifiedOf(all).length === all.length);
  assert.deepEqual(notifiedOf(all), all);
});

describe('events', { concurrency: 3 }, () => {
  let client: Client;
  let belay: Belay;
  before(async () => {
    await startWorkerOnce();
    const connection = await connectTo(place().address);
    atEnd(() => connection.close());
    client = new Client({ connection });
    belay = await connect({ connection, taskQueue: TASK_QUEUE });
  });

  /** Makes a backup whose operation has received the maximum number of signals that Temporal allows. */
  async function deafBackup(serverId: string) {
    world.sandbox.script({ server: serverId }, { ends: 'never' }, { durationMs: 0, ends: 'completed' });
    const run = await belay.start({ serverId, siteIds: [], backup: BACKUP });
    await eventually('the backup', () => began(world.sandbox, 'backup', serverId).length === 1);
    const operation = client.workflow.getHandle(backupServerId(serverId));
    for (let sent = 0; sent < LIMIT; sent += 1) await operation.signal('hint', { claim: null });
    await assert.rejects(operation.signal('hint', { claim: null }));
    return run;
  }

  test('a run waits until the lock is free if its holder accepts no more signals', async () => {
    const serverId = fresh('s');
    const holder = await deafBackup(serverId);
    const waiter = await belay.start({ serverId, siteIds: [], backup: BACKUP });
    await queuedFor(waiter);
    world.sandbox.finish({ server: serverId }, 'completed');
    assert.equal((await resultOf(holder)).outcome, 'completed');
    assert.equal((await resultOf(waiter)).outcome, 'completed');
    assert.equal(began(world.sandbox, 'backup', serverId).length, 2);
  });

  test('an event about an operation that accepts no more signals is handled', async () => {
    const serverId = fresh('s');
    const holder = await deafBackup(serverId);
    await receiver.deliver({ type: 'backup.completed', server_id: serverId }, { id: serverId });
    const handling = client.workflow.getHandle(eventId('panel', serverId));
    const { woken } = (await handling.result()) as EventResult;
    assert.ok(!woken.includes(backupServerId(serverId)), 'the operation was signalled');
    const { raw } = await handling.describe();
    assert.ok(Number(raw.workflowExecutionInfo?.historyLength) < 30, 'the signal was retried');
    world.sandbox.finish({ server: serverId }, 'completed');
    assert.equal((await resultOf(holder)).outcome, 'completed');
  });

  test('the workers of that queue make no request to the service', async () => {
    const siteId = fresh('a');
    const input = { siteIds: [siteId], deploy: { intervalMs: 1_000, tries: 2 } };
    const run = await client.workflow.start('deployOnly', {
      ...{ workflowId: `deploy:${siteId}:x`, taskQueue: eventTaskQueue(TASK_QUEUE), args: [input] },
    });
    const history = async () => JSON.stringify(await run.fetchHistory());
    await eventually('a read that no worker can make', async () => (await history()).includes('is not registered'));
    assert.deepEqual(reads(world.sandbox, `/v1/sites/${siteId}/deployments/latest`), []);
    assert.equal(posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
    await run.terminate();
  });
});
