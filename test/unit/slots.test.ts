import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workflowSlots } from '../../src/worker/slots/workflow-slots.ts';

const poll = (isSticky: boolean) =>
  ({ slotType: 'workflow', taskQueue: 'q', workerIdentity: 'w', workerBuildId: '', isSticky }) as const;
const [COMMON, STICKY] = [poll(false), poll(true)];

test('few tasks of runs that are not in the cache are taken at a time, and those of cached runs do not wait for them', async () => {
  const slots = workflowSlots(4, 2);
  const { signal } = new AbortController();
  const first = await slots.reserveSlot(COMMON, signal);
  assert.ok(slots.tryReserveSlot(COMMON));
  assert.equal(slots.tryReserveSlot(COMMON), null);
  assert.ok(slots.tryReserveSlot(STICKY));
  const waiting = slots.reserveSlot(COMMON, signal);
  slots.releaseSlot({ permit: first });
  await waiting;
  assert.equal(slots.tryReserveSlot(COMMON), null);
});

test('tasks of cached runs do not exceed the slots of the worker either', () => {
  const slots = workflowSlots(2, 1);
  const permits = [slots.tryReserveSlot(STICKY), slots.tryReserveSlot(STICKY)];
  assert.ok(permits.every((permit) => permit !== null));
  assert.deepEqual([slots.tryReserveSlot(STICKY), slots.tryReserveSlot(COMMON)], [null, null]);
  slots.releaseSlot({ permit: permits[0]! });
  assert.ok(slots.tryReserveSlot(COMMON));
});
