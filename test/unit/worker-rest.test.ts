import assert from 'node:assert/strict';
import { test } from 'node:test';
import { activitySlots } from '../../src/worker/slots.ts';
import { createRest } from '../../src/worker/probe-service.ts';
import { createLogger } from '../../src/process/log.ts';
import { ACTIVITY_POLL } from '../support/activity-poll.ts';

/** A rest whose probes get these answers, the last one for good. */
function restWith(...answers: boolean[]) {
  const ended = new AbortController();
  let probes = 0;
  const probe = () => Promise.resolve(answers[Math.min(probes++, answers.length - 1)]!);
  return { rest: createRest(probe, createLogger('silent'), ended.signal), ended };
}

const isPending = async (promise: Promise<unknown>) =>
  (await Promise.race([promise, new Promise((resolve) => setImmediate(resolve, 'pending'))])) === 'pending';

test('a rest is over as soon as a probe is answered', async () => {
  const { rest } = restWith(false, true);
  rest.begin('no connection');
  assert.equal(rest.reason, 'no connection');
  assert.equal(await rest.isOver(), false);
  await rest.whenOver();
  assert.deepEqual([rest.reason, await rest.isOver()], [null, true]);
});

test('who asks in the first moment of a rest waits for its first probe', async () => {
  const { rest } = restWith(true);
  rest.begin('401');
  assert.equal(await rest.isOver(), true);
});

test('a resting worker asks for no activity until its rest is over, and makes those that it scheduled itself', async () => {
  const { rest } = restWith(false, true);
  const slots = activitySlots(2, rest);
  rest.begin('401');
  const reserved = slots.reserveSlot(ACTIVITY_POLL, new AbortController().signal);
  assert.ok(await isPending(reserved));
  assert.ok(slots.tryReserveSlot(ACTIVITY_POLL));
  await reserved;
});

test('no more slots are reserved than there are, and a released one is reserved again', async () => {
  const slots = activitySlots(1, restWith(true).rest);
  const { signal } = new AbortController();
  const permit = await slots.reserveSlot(ACTIVITY_POLL, signal);
  const [second, third] = [slots.reserveSlot(ACTIVITY_POLL, signal), slots.reserveSlot(ACTIVITY_POLL, signal)];
  assert.ok(await isPending(Promise.race([second, third])));
  slots.releaseSlot({ permit });
  await Promise.race([second, third]);
  assert.ok(await isPending(Promise.all([second, third])));
});

test('a reservation that is no longer wanted ends, at rest as well', async () => {
  const { rest, ended } = restWith(false);
  rest.begin('no connection');
  const abort = new AbortController();
  const reserved = activitySlots(1, rest).reserveSlot(ACTIVITY_POLL, abort.signal);
  abort.abort();
  await assert.rejects(async () => reserved, { name: 'AbortError' });
  ended.abort();
});
