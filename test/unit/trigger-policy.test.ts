import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  afterTrigger,
  countTrigger,
  MAX_NO_EFFECT,
  NO_TRIGGERS,
  type TriggerResult,
  whileCertain,
} from '../../src/rules/trigger-policy.ts';

const BUDGET = {
  intervalMs: 10_000,
  resendMs: 300_000,
  busyEndsMs: 300_000,
  busyPauseMs: 1_000,
  waitsInDoubt: true,
};
const withoutEffect = (retryAfterMs: number | null = null): TriggerResult<unknown> & { kind: 'no_effect' } => ({
  kind: 'no_effect',
  message: 'turned away',
  retryAfterMs,
});
const conflict: TriggerResult<never> & { kind: 'conflict' } = { kind: 'conflict', message: '409', retryAfterMs: null };
const ambiguous = { kind: 'ambiguous', message: 'lost' } as const;
const refused = { kind: 'refused', message: '403' } as const;

test('a trigger that certainly had no effect is sent again at the interval, or after its Retry-After', () => {
  const ends = countTrigger(NO_TRIGGERS, withoutEffect(), 0);
  assert.deepEqual(afterTrigger(withoutEffect(), ends, BUDGET, 0), { kind: 'send', atMs: 10_000 });
  assert.deepEqual(afterTrigger(withoutEffect(7_000), ends, BUDGET, 0), { kind: 'send', atMs: 7_000 });
});

test('a request that was not sent is certainly without effect for 15 minutes, and after that ends unknown', () => {
  const certainMs = 15 * 60_000;
  for (const result of [withoutEffect(), { kind: 'not_taken', message: 'no worker took it' } as const]) {
    assert.equal(whileCertain(result, certainMs), result);
    const late = whileCertain(result, certainMs + 1);
    assert.ok(late.kind === 'reset', late.kind);
    assert.match(late.message, /15m or more passed.*check the service/);
    const step = afterTrigger(late, countTrigger(NO_TRIGGERS, late, 0), BUDGET, 0);
    assert.deepEqual(step, { kind: 'end', outcome: 'unknown', type: 'OutcomeUnknown', message: late.message });
  }
});

test('a Retry-After beyond the budget ends not started', () => {
  const step = afterTrigger(withoutEffect(400_000), countTrigger(NO_TRIGGERS, withoutEffect(), 0), BUDGET, 0);
  assert.deepEqual(step, { kind: 'end', outcome: 'not_started', type: 'Refused', message: 'turned away' });
});

test('a refused trigger ends not started', () => {
  const step = afterTrigger(refused, countTrigger(NO_TRIGGERS, refused, 0), BUDGET, 0);
  assert.deepEqual(step, { kind: 'end', outcome: 'not_started', type: 'Refused', message: '403' });
});

const unauthorized = { kind: 'unauthorized', message: '401' } as const;
const notTaken = { kind: 'not_taken', message: 'no worker took it' } as const;

test('a trigger that rests on old reads follows a new baseline, and after one in doubt ends unknown', () => {
  const stale = { kind: 'stale', message: 'read 30s before' } as const;
  const step = afterTrigger(stale, countTrigger(NO_TRIGGERS, stale, 0), BUDGET, 0);
  assert.deepEqual(step, { kind: 'send', atMs: 1_000 });
  const counts = countTrigger(countTrigger(NO_TRIGGERS, ambiguous, 0), stale, 1);
  assert.deepEqual(afterTrigger(stale, counts, BUDGET, 1), {
    kind: 'end',
    outcome: 'unknown',
    type: 'OutcomeUnknown',
    message: 'an earlier request may have had an effect; read 30s before',
  });
});

test('a trigger answered 401 or 403 is sent once more at once, and a second refusal ends not started', () => {
  const once = countTrigger(NO_TRIGGERS, unauthorized, 0);
  assert.deepEqual(afterTrigger(unauthorized, once, BUDGET, 0), { kind: 'send', atMs: 0 });
  const step = afterTrigger(unauthorized, countTrigger(once, unauthorized, 1), BUDGET, 1);
  assert.deepEqual(step, { kind: 'end', outcome: 'not_started', type: 'Refused', message: '401' });
});

test('only time ends triggers that no worker takes, and the message names the last failure before', () => {
  let counts = countTrigger(NO_TRIGGERS, withoutEffect(), 0);
  for (let nowMs = 1_000; nowMs < BUDGET.resendMs; nowMs += 4_000) {
    counts = countTrigger(counts, notTaken, nowMs);
    assert.equal(afterTrigger(notTaken, counts, BUDGET, nowMs).kind, 'send');
  }
  const step = afterTrigger(notTaken, counts, BUDGET, BUDGET.resendMs);
  assert.ok(step.kind === 'end' && step.outcome === 'not_started');
  assert.equal(step.message, 'no worker took it; before: turned away');
});

test('the pause before a request that stays unsent doubles up to the interval, and lasts as long as the service asks', () => {
  const pausesMs = (unsent: TriggerResult<never> & { kind: 'not_taken' | 'held_back' }, resendMs: number) => {
    let counts = NO_TRIGGERS;
    return Array.from({ length: 6 }, () => {
      counts = countTrigger(counts, unsent, 0);
      const step = afterTrigger(unsent, counts, { ...BUDGET, resendMs }, 0);
      return step.kind === 'send' ? step.atMs / 1_000 : step;
    });
  };
  assert.deepEqual(pausesMs(notTaken, 300_000), [1, 2, 4, 8, 10, 10]);
  assert.deepEqual(pausesMs(notTaken, 3_600_000), [1, 2, 4, 8, 16, 32]);
  assert.deepEqual(
    pausesMs({ kind: 'held_back', message: 'paused', retryAfterMs: 7_000 }, 300_000),
    [7, 7, 7, 8, 10, 10],
  );
});

test('after a refusal, a worker that would be accepted is awaited for two minutes', () => {
  const counts = countTrigger(countTrigger(NO_TRIGGERS, unauthorized, 0), notTaken, 0);
  assert.equal(afterTrigger(notTaken, counts, BUDGET, 119_000).kind, 'send');
  assert.equal(afterTrigger(notTaken, counts, BUDGET, 119_001).kind, 'end');
});

test('a refusal long after the first request is followed by another request, and has its own two minutes', () => {
  const nowMs = 150_000;
  let counts = countTrigger(countTrigger(NO_TRIGGERS, withoutEffect(nowMs), 0), unauthorized, nowMs);
  assert.deepEqual(afterTrigger(unauthorized, counts, BUDGET, nowMs), { kind: 'send', atMs: nowMs });
  counts = countTrigger(counts, notTaken, nowMs);
  assert.equal(afterTrigger(notTaken, counts, BUDGET, nowMs + 119_000).kind, 'send');
  assert.equal(afterTrigger(notTaken, counts, BUDGET, nowMs + 119_001).kind, 'end');
});

test('the budget for another request does not include the wait for another operation', () => {
  const nowMs = 400_000;
  const counts = countTrigger(NO_TRIGGERS, conflict, 0);
  const after = (before: typeof counts) =>
    afterTrigger(withoutEffect(), countTrigger(before, withoutEffect(), nowMs), BUDGET, nowMs).kind;
  assert.deepEqual([after(counts), after({ ...counts, firstMs: nowMs })], ['end', 'send']);
});

test('a conflict is retried, and ends Busy if it lasts too long', () => {
  const ends = countTrigger(NO_TRIGGERS, conflict, 0);
  assert.equal(afterTrigger(conflict, ends, BUDGET, 0).kind, 'send');
  const late = afterTrigger(conflict, ends, BUDGET, 295_000);
  assert.ok(late.kind === 'end' && late.type === 'Busy' && late.outcome === 'not_started');
  assert.equal(late.message, '409: another operation is in progress; try again when it has ended');
});

test('a request is not sent again at once, although the service names no time to wait, and seldom in a long wait', () => {
  const atMs = (result: Parameters<typeof afterTrigger>[0], budget = BUDGET) => {
    const step = afterTrigger(result, countTrigger(NO_TRIGGERS, result, 0), budget, 0);
    return step.kind === 'send' ? step.atMs : step.kind;
  };
  const now = { ...conflict, retryAfterMs: 0 };
  assert.deepEqual([atMs(now), atMs(withoutEffect(0))], [1_000, 1_000]);
  assert.equal(atMs(now, { ...BUDGET, busyEndsMs: 86_400_000, busyPauseMs: 288_000 }), 288_000);
});

test('after an ambiguous trigger, reconciliation precedes any other request', () => {
  for (const next of [conflict, withoutEffect(), unauthorized, notTaken, ambiguous]) {
    const ends = countTrigger(countTrigger(NO_TRIGGERS, ambiguous, 0), next, 1);
    assert.equal(afterTrigger(next, ends, BUDGET, 1).kind, 'reconcile');
  }
});

test('after an ambiguous trigger, conflicts are waited for at the interval, and use up no other budget', () => {
  let counts = countTrigger(NO_TRIGGERS, ambiguous, 0);
  const step = (result: typeof conflict | ReturnType<typeof withoutEffect>, nowMs: number, budget = BUDGET) => {
    counts = countTrigger(counts, result, nowMs);
    const next = afterTrigger(result, counts, budget, nowMs);
    return next.kind === 'reconcile' ? next.notBeforeMs : next.kind;
  };
  for (let n = 1; n < MAX_NO_EFFECT; n += 1) step(conflict, n);
  assert.equal(step(conflict, 1_000), 11_000);
  assert.equal(step(withoutEffect(), 2_000), 2_000);
  assert.equal(step(conflict, 295_000), 'end');
  assert.equal(step(conflict, 3_000, { ...BUDGET, waitsInDoubt: false }), 'end');
});

test('property: at most five triggers are sent without effect, and none ends not started after an ambiguous one', () => {
  const end = fc.constantFrom(
    ...[withoutEffect(), withoutEffect(500), conflict, ambiguous, refused, unauthorized, notTaken],
  );
  fc.assert(
    fc.property(fc.array(end, { maxLength: 30 }), (list) => {
      let ends = NO_TRIGGERS;
      let nowMs = 0;
      let doubt = false;
      let turnedAway = 0;
      for (const it of list) {
        ends = countTrigger(ends, it, nowMs);
        doubt ||= it.kind === 'ambiguous';
        turnedAway += it.kind === 'no_effect' ? 1 : 0;
        const step = afterTrigger(it, ends, BUDGET, nowMs);
        if (it.kind === 'ambiguous') assert.equal(step.kind, 'reconcile');
        if (step.kind === 'end') {
          assert.equal(step.outcome, doubt ? 'unknown' : 'not_started');
          return;
        }
        assert.ok(turnedAway < MAX_NO_EFFECT);
        if (step.kind === 'send') nowMs = step.atMs;
      }
    }),
  );
});

test('after an ambiguous trigger, the next one waits for its Retry-After and is not sent beyond the budget', () => {
  const ends = countTrigger(countTrigger(NO_TRIGGERS, ambiguous, 0), withoutEffect(), 1_000);
  assert.deepEqual(afterTrigger(withoutEffect(60_000), ends, BUDGET, 1_000), {
    kind: 'reconcile',
    notBeforeMs: 61_000,
  });
  const late = afterTrigger(withoutEffect(400_000), ends, BUDGET, 1_000);
  assert.ok(late.kind === 'end' && late.outcome === 'unknown');
});

test('a trigger that its worker held back is sent when it may be, however often, within the budget', () => {
  const held = { kind: 'held_back', message: 'not sent', retryAfterMs: 17_000 } as const;
  let counts = NO_TRIGGERS;
  for (let n = 0; n <= 2 * MAX_NO_EFFECT; n += 1) counts = countTrigger(counts, held, 0);
  assert.equal(counts.noEffect, 0);
  assert.deepEqual(afterTrigger(held, counts, BUDGET, 0), { kind: 'send', atMs: 17_000 });
  const late = afterTrigger(held, counts, BUDGET, BUDGET.resendMs);
  assert.deepEqual(late, { kind: 'end', outcome: 'not_started', type: 'Refused', message: 'not sent' });
  const doubt = countTrigger(counts, ambiguous, 0);
  assert.deepEqual(afterTrigger(held, doubt, BUDGET, 0), { kind: 'reconcile', notBeforeMs: 17_000 });
});
