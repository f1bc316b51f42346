import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Client } from '@temporalio/client';
import { createThrottledSignal } from '../../src/client/lookups/signals.ts';
import { HISTORY_BUDGET } from '../../src/contract/history-budget.ts';
import { createHoldServer } from '../../src/features/events/client-signals.ts';
import { TIMING } from '../../src/contract/timing.ts';

const { signalGapMs, floodSignalGapMs } = TIMING.event;

/** Sends signals on a mocked clock and records when each was sent. */
function onMockedClock({ mock }: TestContext) {
  mock.timers.enable({ apis: ['Date', 'setTimeout'] });
  const beginMs = 1_000_000;
  mock.timers.tick(beginMs);
  const sentMs: number[] = [];
  const signal = () => Promise.resolve(void sentMs.push(Date.now() - beginMs));
  const client = { workflow: { getHandle: () => ({ signal }) } } as unknown as Client;
  const send = createThrottledSignal<string>(client, 'hint', (argument) => argument);
  const pass = async (ms: number) => {
    // A timer that is due now fires at the first tick.
    for (const step of [1, ms - 1]) {
      mock.timers.tick(step);
      await new Promise(setImmediate);
    }
  };
  return { send, pass, sentMs };
}

/** The gaps rounded to 100 ms, because the clock moves in ticks. */
const gapsOf = (timesMs: number[]) =>
  timesMs.slice(1).map((ms, index) => Math.round((ms - timesMs[index]!) / 100) * 100);

test('signals of one kind to one workflow are a second apart, and signals in between share the next one', async (t) => {
  const { send, pass, sentMs } = onMockedClock(t);
  for (let tenth = 0; tenth < 25; tenth += 1) {
    void send('w', 'x');
    await pass(signalGapMs / 10);
  }
  assert.deepEqual(gapsOf(sentMs), [signalGapMs, signalGapMs]);
});

test('signals of another kind or to another workflow do not wait', async (t) => {
  const { send, sentMs } = onMockedClock(t);
  for (const [workflowId, argument] of [
    ['w', 'x'],
    ['w', 'y'],
    ['v', 'x'],
  ] as const)
    await send(workflowId, argument);
  assert.deepEqual(sentMs, [0, 0, 0]);
});

test('no caller waits for a signal that others caused', async (t) => {
  const { send, pass, sentMs } = onMockedClock(t);
  let answered = 0;
  for (let call = 0; call < 50; call += 1) void send('w', 'x').then((told) => void (answered += told ? 1 : 0));
  await new Promise(setImmediate);
  assert.equal(answered, 50);
  await pass(signalGapMs);
  assert.equal(sentMs.length, 2, 'one at once, and one for the calls since');
});

test('a signal that fails later disturbs no one', async (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'] });
  t.mock.timers.tick(1_000_000);
  let calls = 0;
  const signal = () => ((calls += 1) === 1 ? Promise.resolve() : Promise.reject(new Error('unavailable')));
  const client = { workflow: { getHandle: () => ({ signal }) } } as unknown as Client;
  const send = createThrottledSignal<string>(client, 'hint', (argument) => argument);
  assert.deepEqual([await send('w', 'x'), await send('w', 'x')], [true, true]);
  t.mock.timers.tick(signalGapMs);
  await new Promise(setImmediate);
  assert.equal(calls, 2);
});

test('a flood sends one signal every ten seconds', async (t) => {
  const { send, pass, sentMs } = onMockedClock(t);
  for (let second = 0; second < 130; second += 1) {
    void send('w', 'x');
    await pass(signalGapMs);
  }
  const gapsMs = gapsOf(sentMs);
  assert.deepEqual(new Set(gapsMs), new Set([signalGapMs, floodSignalGapMs]));
  assert.equal(gapsMs.indexOf(floodSignalGapMs), 99);
});

const FLEET = Array.from({ length: 1_000 }, (_, index) => String(index));

/** @returns what sends a hold to a rollout over the fleet, and resolves to the ids of the rollouts that took it */
function holdIn(historyLength: number, pending: number | 'silent') {
  const rollout = { workflowId: 'rollout:steady:k', memo: { servers: FLEET } };
  async function* list() {
    yield await Promise.resolve(rollout);
  }
  const describe = () => Promise.resolve({ ...rollout, historyLength });
  const targets = FLEET.map((serverId, index) => ({
    serverId,
    startedAt: index < Number(pending) ? null : '2026-11-28T20:00:00.000Z',
    outcome: index < Number(pending) ? null : 'completed',
  }));
  const query = () =>
    pending === 'silent' ? Promise.reject(new Error('no answer')) : Promise.resolve({ result: { targets } });
  const getHandle = () => ({ describe, query, signal: () => Promise.resolve() });
  const hold = { serverId: '12', event: 'event:panel:1', reason: 'an alert fired' };
  const withDeadline = (_: unknown, ask: () => Promise<unknown>) => ask();
  const send = createHoldServer({ withDeadline, workflow: { list, getHandle } } as unknown as Client);
  return () => send({ hold, excludeWorkflowIds: [] });
}

test('a hold is not signalled to a rollout whose history has room for no more than its servers', async () => {
  const { maxEvents, eventsPerServer, maxThawLooks, eventsPerThawLook } = HISTORY_BUDGET;
  const fullFrom = maxEvents - maxThawLooks * eventsPerThawLook - 600 * eventsPerServer;
  assert.deepEqual(await holdIn(fullFrom - 1, 600)(), ['rollout:steady:k']);
  assert.deepEqual(await holdIn(fullFrom, 600)(), []);
});

test('a hold is signalled to a rollout whose long history is that of the servers that have ended', async () => {
  assert.deepEqual(await holdIn(900 * 16, 100)(), ['rollout:steady:k']);
});

test('a hold that cannot be sent, because the rollout does not say how many servers are left, is sent again', async () => {
  const send = holdIn(900 * 16, 'silent');
  for (let times = 0; times < 3; times += 1) await assert.rejects(send(), /no answer/);
});
