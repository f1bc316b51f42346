import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { EventResult } from '../../../src/contract/event.ts';
import { backupServerId, eventId } from '../../../src/contract/ids/workflow-ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { queuedFor } from '../../support/queued.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { tempFolder, temporalExecutable } from '../../support/temporal.ts';
import { fresh, startWorld, type World } from '../../support/world.ts';

const LIMIT = 20;
const BACKUP = { intervalMs: 300, tries: 1_000 };

let world: World;
let receiver: Receiver;
before(async () => {
  const executable = join(await tempFolder(), 'temporal');
  const limit = `--dynamic-config-value history.maximumSignalsPerExecution=${LIMIT}`;
  writeFileSync(executable, `#!/bin/sh\nexec "${await temporalExecutable()}" "$@" ${limit}\n`);
  chmodSync(executable, 0o755);
  world = await startWorld({ temporal: { executable } });
  receiver = await startReceiver(world);
});

/** A backup whose operation has had as many signals as Temporal lets a workflow have. */
async function deafBackup(serverId: string) {
  world.sandbox.script({ server: serverId }, { ends: 'never' }, { durationMs: 0 });
  const run = await world.belay.start({ serverId, siteIds: [], backup: BACKUP });
  await eventually('the backup', () => began(world.sandbox, 'backup', serverId).length === 1);
  const operation = world.client.workflow.getHandle(backupServerId(serverId));
  for (let sent = 0; sent < LIMIT; sent += 1) await operation.signal('hint', { claim: null });
  await assert.rejects(operation.signal('hint', { claim: null }));
  return run;
}

test('who needs the lock of an operation that takes no signals any more waits until it is free', async () => {
  const serverId = fresh('s');
  const holder = await deafBackup(serverId);
  const waiter = await world.belay.start({ serverId, siteIds: [], backup: BACKUP });
  await queuedFor(waiter);
  world.sandbox.finish({ server: serverId }, 'completed');
  assert.equal((await resultOf(holder)).outcome, 'completed');
  assert.equal((await resultOf(waiter)).outcome, 'completed');
  assert.equal(began(world.sandbox, 'backup', serverId).length, 2);
});

test('an event about an operation that takes no signals any more is handled all the same', async () => {
  const serverId = fresh('s');
  const holder = await deafBackup(serverId);
  await receiver.deliver({ type: 'backup.completed', server_id: serverId }, { id: serverId });
  const handling = world.client.workflow.getHandle(eventId('panel', serverId));
  const { woken } = (await handling.result()) as EventResult;
  assert.ok(!woken.includes(backupServerId(serverId)), 'it was told all the same');
  const { raw } = await handling.describe();
  assert.ok(Number(raw.workflowExecutionInfo?.historyLength) < 30, 'it was tried again and again');
  world.sandbox.finish({ server: serverId }, 'completed');
  assert.equal((await resultOf(holder)).outcome, 'completed');
});
