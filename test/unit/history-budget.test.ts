import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HISTORY_BUDGET } from '../../src/contract/history-budget.ts';
import { MAX_WAITERS } from '../../src/rules/wait-queue.ts';

const { maxEvents, eventsPerRead, maxTries, maxHintedReads, maxParkedReads, signalsUntilEvents } = HISTORY_BUDGET;
const { eventsPerRequest, readsPerRequest, maxUnsentRequests } = HISTORY_BUDGET;

test('reads, unsent requests and signals together stay within the history that Temporal allows', () => {
  const spare = 3_000;
  const reads = (maxTries + maxHintedReads + maxParkedReads) * eventsPerRead;
  const perRequest = eventsPerRequest + readsPerRequest * eventsPerRead;
  assert.ok(reads + maxUnsentRequests * perRequest + signalsUntilEvents + spare <= maxEvents);
});

test('a full lock queue fits into the signals that a holder accepts', () => {
  const eventsPerSignal = 4;
  assert.ok(MAX_WAITERS * eventsPerSignal < signalsUntilEvents);
});
