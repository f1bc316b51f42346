import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { EventResult } from '../../../src/contract/event.ts';
import { backupServerId, eventId } from '../../../src/contract/ids/workflow-ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { queuedFor } from '../../support/queued.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { executableWith } from '../../support/shared-temporal.ts';
import { fresh, startTestStack, type TestStack } from '../../support/world.ts';

const LIMIT = 20;
const BACKUP = { intervalMs: 300, tries: 1_000 };

let world: TestStack;
let receiver: Receiver;
before(async () => {
  const limit = ['--dynamic-config-value', `history.maximumSignalsPerExecution=${LIMIT}`];
  const executable = await executableWith(limit);
  world = await startTestStack({ temporal: { executable } });
  receiver = await startReceiver(world);
});

/** Makes a backup whose operation has received the maximum number of signals that Temporal allows. */
async function deafBackup(serverId: string) {
  world.sandbox.script({ server: serverId }, { ends: 'never' }, { durationMs: 0 });
  const run = await world.belay.start({ serverId, siteIds: [], backup: BACKUP });
  await eventually('the backup', () => began(world.sandbox, 'backup', serverId).length === 1);
  const operation = world.client.workflow.getHandle(backupServerId(serverId));
  for (let sent = 0; sent < LIMIT; sent += 1) await operation.signal('hint', { claim: null });
  await assert.rejects(operation.signal('hint', { claim: null }));
  return run;
}

test('a run waits until the lock is free if its holder accepts no more signals', async () => {
  const serverId = fresh('s');
  const holder = await deafBackup(serverId);
  const waiter = await world.belay.start({ serverId, siteIds: [], backup: BACKUP });
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
  const handling = world.client.workflow.getHandle(eventId('panel', serverId));
  const { woken } = (await handling.result()) as EventResult;
  assert.ok(!woken.includes(backupServerId(serverId)), 'the operation was signalled');
  const { raw } = await handling.describe();
  assert.ok(Number(raw.workflowExecutionInfo?.historyLength) < 30, 'the signal was retried');
  world.sandbox.finish({ server: serverId }, 'completed');
  assert.equal((await resultOf(holder)).outcome, 'completed');
});
