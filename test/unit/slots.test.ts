import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACTIVITY_POLL } from '../support/activity-poll.ts';
import { admissionSlots, workflowSlots } from '../../src/worker/slots.ts';

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

/** @param left how many places there are */
function admission(left: number, reason: string | null = null) {
  const places = {
    hasPlace: () => left > 0,
    takePlace: () => (left -= 1) >= 0,
    waitMs: () => (left > 0 ? 0 : 5),
  };
  const slots = admissionSlots(places, { reason, whenOver: () => Promise.resolve() });
  return { slots, add: () => void (left += 1) };
}

test('a worker asks for one run that waits at a time, and only while there is a place', async () => {
  const { slots, add } = admission(1);
  const { signal } = new AbortController();
  const first = await slots.reserveSlot(ACTIVITY_POLL, signal);
  assert.equal(slots.tryReserveSlot(ACTIVITY_POLL), null);
  slots.releaseSlot({ permit: first });
  assert.equal(slots.tryReserveSlot(ACTIVITY_POLL), null);
  const next = slots.reserveSlot(ACTIVITY_POLL, signal);
  add();
  await next;
});

test('a worker that stops or rests asks for no run that waits', async () => {
  const stopping = new AbortController();
  const waiting = admission(0).slots.reserveSlot(ACTIVITY_POLL, stopping.signal);
  stopping.abort(new Error('stopped'));
  await assert.rejects(waiting);
  assert.equal(admission(1, 'no connection').slots.tryReserveSlot(ACTIVITY_POLL), null);
});
