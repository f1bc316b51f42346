import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HISTORY_BUDGET } from '../../src/contract/history-budget.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { LIMITS } from '../../src/request/limits.ts';
import { MAX_WAITERS } from '../../src/rules/wait-queue.ts';

const { eventsPerSecondRead, maxSecondReads } = HISTORY_BUDGET;
const { maxEvents, eventsPerRead, maxTries, maxHintedReads, maxParkedReads, signalsUntilEvents } = HISTORY_BUDGET;
const { eventsPerRequest, readsPerRequest, maxUnsentRequests, readsPerGrace, maxGraces } = HISTORY_BUDGET;

test('reads, unsent requests and signals together stay within the history that Temporal allows', () => {
  const spare = 3_000;
  const reads = (maxTries + maxHintedReads + maxParkedReads + maxGraces * readsPerGrace) * eventsPerRead;
  const perRequest = eventsPerRequest + readsPerRequest * eventsPerRead;
  const seconds = maxSecondReads * eventsPerSecondRead;
  assert.ok(reads + seconds + maxUnsentRequests * perRequest + signalsUntilEvents + spare <= maxEvents);
});

test('an operation that is refused or waits for another one leaves room for the wait for its verdict', () => {
  const { maxBusyReads, maxConflicts, sparesFromEvents } = HISTORY_BUDGET;
  assert.ok(maxBusyReads * eventsPerRead < sparesFromEvents);
  assert.ok(maxConflicts * (eventsPerRequest + 2 * eventsPerRead) < sparesFromEvents);
  const spare = 3_000;
  const reads = (maxTries + maxHintedReads + maxParkedReads + maxGraces * readsPerGrace) * eventsPerRead;
  assert.ok(sparesFromEvents + reads + maxSecondReads * eventsPerSecondRead + spare <= maxEvents);
});

test('a run that waits for freezes for 31 days has room for its looks, its thaws and signals', () => {
  const { eventsPerThawLook, maxThawLooks, eventsPerThaw, maxThaws, maxThawSignals } = HISTORY_BUDGET;
  const { lookMs, lateLookMs, oftenForMs } = TIMING.freeze;
  const [, longestMs] = LIMITS.freezeWaitMs;
  const byTime = oftenForMs / lookMs + (longestMs - oftenForMs) / lateLookMs;
  // Each thaw begins a look of its own, and another one before it goes on.
  assert.ok(byTime + 2 * maxThaws + maxThawSignals <= maxThawLooks + maxThawSignals);
  const looks = (maxThawLooks + maxThawSignals) * eventsPerThawLook;
  assert.ok(looks + maxThaws * eventsPerThaw + signalsUntilEvents <= maxEvents);
});

test('a full lock queue fits into the signals that a holder accepts', () => {
  const eventsPerSignal = 4;
  assert.ok(MAX_WAITERS * eventsPerSignal < signalsUntilEvents);
});
