import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { EventResult } from '../../../src/contract/event.ts';
import { backupServerId, eventId, failedBackupId } from '../../../src/contract/ids/workflow-ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { startReceiver } from '../../support/receiver.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { addWorker, fresh, type TestStack } from '../../support/world.ts';

const FRESH_FOR_MS = 500;
const RARE = { intervalMs: 1_800_000, tries: 2 };

let world: TestStack;
before(async () => {
  world = await sharedStack({ backup: { ends: 'never' }, deployment: { ends: 'never' } });
});

test('events that waited too long for a worker wake, hold and share nothing, but a failed backup is recorded', async () => {
  const [serverId, taskQueue] = [fresh('s'), fresh('queue')];
  const run = await world.belay.start({ serverId, siteIds: [], backup: RARE });
  const backupId = await eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]?.began?.id);
  await eventually('the wait', async () => (await run.status()).waiting);
  const receiver = await startReceiver({ ...world, taskQueue }, { events: { freshFor: FRESH_FOR_MS } });
  const deliver = async (type: string, data: object) => {
    const id = fresh('msg');
    assert.equal((await receiver.deliver({ type, data }, { id, source: 'mapped' })).status, 202);
    return world.client.workflow.getHandle(eventId('mapped', id));
  };
  const events = [
    await deliver('alert.fired', { server_id: serverId }),
    await deliver('backup.started', { server_id: serverId, backup_id: 'another' }),
    await deliver('backup.failed', { server_id: serverId, backup_id: backupId }),
  ];
  const { startTime } = await events.at(-1)!.describe();
  await eventually('their age', () => Date.now() - startTime.getTime() > 2 * FRESH_FOR_MS);
  await addWorker(world, taskQueue, world.sandbox.url);
  for (const event of events) {
    const result = (await event.result()) as EventResult;
    assert.deepEqual(result, { woken: [], shared: false, notified: [], late: true });
  }
  await world.client.workflow.getHandle(failedBackupId(backupId)).describe();
  assert.equal((await run.status()).result.backup?.polls, 0);
  const history = await world.client.workflow.getHandle(backupServerId(serverId)).fetchHistory();
  assert.ok(!history.events?.some((it) => it.workflowExecutionSignaledEventAttributes), 'it was woken');
  await run.cancel();
});

test('an event within its time is not late', async () => {
  const receiver = await startReceiver(world);
  const id = fresh('msg');
  await receiver.deliver({ type: 'alert.fired', server_id: fresh('s') }, { id });
  const result = (await world.client.workflow.getHandle(eventId('panel', id)).result()) as EventResult;
  assert.equal(result.late, undefined);
});
