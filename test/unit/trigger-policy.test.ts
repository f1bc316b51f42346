import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  afterTrigger,
  countEnd,
  MAX_WITHOUT_EFFECT,
  NO_ENDS,
  type TriggerEnd,
} from '../../src/workflows/rules/trigger-policy.ts';
import { covered, startCoverage, watched } from '../../src/workflows/rules/watch-coverage.ts';

const BUDGET = { intervalMs: 10_000, resendMs: 300_000, busyEndsMs: 300_000 };
const withoutEffect = (retryAfterMs: number | null = null): TriggerEnd<unknown> & { kind: 'without_effect' } => ({
  kind: 'without_effect',
  message: 'turned away',
  retryAfterMs,
});
const conflict = { kind: 'conflict', message: '409', retryAfterMs: null } as const;
const ambiguous = { kind: 'ambiguous', message: 'lost' } as const;
const refused = { kind: 'refused', message: '403' } as const;

test('a trigger that certainly had no effect is sent again at the interval, or when Retry-After allows', () => {
  const ends = countEnd(NO_ENDS, withoutEffect(), 0);
  assert.deepEqual(afterTrigger(withoutEffect(), ends, BUDGET, 0), { step: 'send', atMs: 10_000 });
  assert.deepEqual(afterTrigger(withoutEffect(7_000), ends, BUDGET, 0), { step: 'send', atMs: 7_000 });
});

test('a Retry-After beyond the budget ends not started', () => {
  const step = afterTrigger(withoutEffect(400_000), countEnd(NO_ENDS, withoutEffect(), 0), BUDGET, 0);
  assert.deepEqual(step, { step: 'end', outcome: 'not_started', type: 'Refused', message: 'turned away' });
});

test('a refused trigger ends not started', () => {
  const step = afterTrigger(refused, countEnd(NO_ENDS, refused, 0), BUDGET, 0);
  assert.deepEqual(step, { step: 'end', outcome: 'not_started', type: 'Refused', message: '403' });
});

test('a conflict is waited out, and is Busy when that takes too long', () => {
  const ends = countEnd(NO_ENDS, conflict, 0);
  assert.equal(afterTrigger(conflict, ends, BUDGET, 0).step, 'send');
  const late = afterTrigger(conflict, ends, BUDGET, 295_000);
  assert.ok(late.step === 'end' && late.type === 'Busy' && late.outcome === 'not_started');
});

test('whatever follows an ambiguous trigger, our own operation is looked for before anything is sent again', () => {
  for (const next of [conflict, withoutEffect(), ambiguous]) {
    const ends = countEnd(countEnd(NO_ENDS, ambiguous, 0), next, 1);
    assert.equal(afterTrigger(next, ends, BUDGET, 1).step, 'reconcile');
  }
});

test('property: at most five are sent without effect, and after an ambiguous one nothing is called not started', () => {
  const end = fc.constantFrom(withoutEffect(), withoutEffect(500), conflict, ambiguous, refused);
  fc.assert(
    fc.property(fc.array(end, { maxLength: 30 }), (list) => {
      let ends = NO_ENDS;
      let nowMs = 0;
      let doubt = false;
      let turnedAway = 0;
      for (const it of list) {
        ends = countEnd(ends, it, nowMs);
        doubt ||= it.kind === 'ambiguous';
        turnedAway += it.kind === 'without_effect' ? 1 : 0;
        const step = afterTrigger(it, ends, BUDGET, nowMs);
        if (it.kind === 'ambiguous') assert.equal(step.step, 'reconcile');
        if (step.step === 'end') {
          assert.equal(step.outcome, doubt ? 'unknown' : 'not_started');
          return;
        }
        assert.ok(turnedAway < MAX_WITHOUT_EFFECT);
        if (step.step === 'send') nowMs = step.atMs;
      }
    }),
  );
});

test('we watched when a read came within five seconds of the POST and no gap was longer than the interval and five', () => {
  const reads = (...atMs: number[]) => atMs.reduce((coverage, ms) => covered(coverage, ms), startCoverage(0));
  assert.ok(watched(reads(1_000, 3_000, 10_000, 20_000), 10_000, 25_000));
  assert.ok(!watched(reads(6_000, 10_000, 20_000), 10_000, 25_000), 'too late after the POST');
  assert.ok(!watched(reads(1_000, 20_000), 10_000, 25_000), 'a gap');
  assert.ok(!watched(reads(1_000, 10_000), 10_000, 30_000), 'nothing read since');
  assert.ok(!watched(startCoverage(0), 10_000, 1_000), 'nothing read at all');
});

test('after an ambiguous trigger nothing is sent before a Retry-After allows it, and nothing beyond the budget', () => {
  const ends = countEnd(countEnd(NO_ENDS, ambiguous, 0), withoutEffect(), 1_000);
  assert.deepEqual(afterTrigger(withoutEffect(60_000), ends, BUDGET, 1_000), {
    step: 'reconcile',
    notBeforeMs: 61_000,
  });
  const late = afterTrigger(withoutEffect(400_000), ends, BUDGET, 1_000);
  assert.ok(late.step === 'end' && late.outcome === 'unknown');
});
