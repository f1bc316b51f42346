import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HISTORY_BUDGET } from '../../src/contract/history-budget.ts';
import type { ReadFailure, ReadResult } from '../../src/contract/activities.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { endWithoutParking, mayBeOutage, parkedReadAtMs, serviceState, type Outage } from '../../src/rules/outage.ts';
import { NO_TRIGGERS, type TriggerResult } from '../../src/rules/trigger-policy.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const OFF: Outage = { budgetMs: null, spentMs: 0, sinceMs: null };
const SIX_HOURS: Outage = { budgetMs: 6 * HOUR, spentMs: 0, sinceMs: null };

const failure = (facts: Partial<ReadFailure>): ReadFailure => ({
  ...{ ok: false, kind: 'http', httpStatus: null, isJson: true, retryAfterMs: null, message: 'GET' },
  ...facts,
});

const READS: [what: string, read: ReadResult, state: ReturnType<typeof serviceState>][] = [
  ['a status', { ok: true, status: 'running', state: 'in_progress' }, 'answers'],
  ['no connection', failure({ kind: 'network' }), 'down'],
  ['a time-out', failure({ kind: 'timeout' }), 'down'],
  ['a worker that keeps a pause', failure({ kind: 'held_back' }), 'down'],
  ['500 in JSON', failure({ httpStatus: 500 }), 'down'],
  ['503', failure({ httpStatus: 503, isJson: false }), 'down'],
  ['429', failure({ httpStatus: 429 }), 'down'],
  ['408', failure({ httpStatus: 408 }), 'down'],
  ['a page of a proxy', failure({ kind: 'protocol', isJson: false }), 'down'],
  ['a 404 of a balancer', failure({ httpStatus: 404, isJson: false }), 'down'],
  ['a redirect to a status page', failure({ httpStatus: 302, isJson: false }), 'down'],
  ['a 404 in JSON', failure({ httpStatus: 404 }), 'answers'],
  ['JSON without a status', failure({ kind: 'protocol' }), 'answers'],
  ['401', failure({ httpStatus: 401, isJson: false }), 'answers'],
  ['403', failure({ httpStatus: 403 }), 'answers'],
  ['a worker without a token', failure({ kind: 'worker' }), 'not_shown'],
  ['a worker for another service', failure({ kind: 'other_service' }), 'not_shown'],
];
for (const [what, read, state] of READS) {
  test(`${what} shows a service that ${state === 'not_shown' ? 'may be down or not' : state}`, () => {
    assert.equal(serviceState(read), state);
  });
}

test('without a budget, nothing parks, and the reason stays as it is', () => {
  const reason = { type: 'OutcomeUnknown', message: 'ten reads failed' } as const;
  assert.equal(parkedReadAtMs(OFF, 0, 0), null);
  assert.equal(parkedReadAtMs({ ...OFF, budgetMs: 0 }, 0, 0), null);
  assert.deepEqual(endWithoutParking(OFF, reason), reason);
  assert.equal(endWithoutParking(SIX_HOURS, reason).message, 'ten reads failed; the outage budget of 6h is used up');
});

test('a parked operation reads once a minute, and no sooner than Retry-After allows', () => {
  assert.equal(parkedReadAtMs(SIX_HOURS, 0, 0), TIMING.poll.parkedPauseMs);
  assert.equal(parkedReadAtMs(SIX_HOURS, 0, 3 * MINUTE), 3 * MINUTE);
});

test('the last read is at the end of the budget, which outages share', () => {
  const second: Outage = { budgetMs: 6 * HOUR, spentMs: 5 * HOUR, sinceMs: 0 };
  assert.equal(parkedReadAtMs(second, HOUR - 1_000, 0), HOUR);
  assert.equal(parkedReadAtMs(second, HOUR, 0), null);
  assert.equal(parkedReadAtMs(second, 0, HOUR + 1), null);
  assert.equal(parkedReadAtMs({ ...second, spentMs: 6 * HOUR, sinceMs: null }, 0, 0), null);
});

test('an outage of any length fits into the history', () => {
  const budgetMs = 1_000 * HOUR;
  const pauseMs = parkedReadAtMs({ ...SIX_HOURS, budgetMs }, 0, 0) ?? 0;
  assert.ok(budgetMs / pauseMs <= HISTORY_BUDGET.maxParkedReads);
});

const RESULTS: [kind: TriggerResult<unknown>['kind'], may: boolean][] = [
  ['no_effect', true],
  ['not_taken', true],
  ['stale', true],
  ['held_back', true],
  ['frozen', false],
  ['unapproved', false],
  ['unlisted', false],
  ['conflict', false],
  ['unauthorized', false],
  ['refused', false],
  ['reset', false],
  ['ambiguous', false],
];
for (const [kind, may] of RESULTS) {
  test(`a request that ends as ${kind} ${may ? 'may' : 'does not'} park its operation`, () => {
    const result = { kind, message: '', retryAfterMs: null, answer: null } as TriggerResult<unknown>;
    assert.equal(mayBeOutage(result, NO_TRIGGERS), may);
    assert.equal(mayBeOutage(result, { ...NO_TRIGGERS, ambiguous: 1 }), false);
    assert.equal(mayBeOutage(result, { ...NO_TRIGGERS, unauthorized: 1 }), false);
  });
}
