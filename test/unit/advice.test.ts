import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { emptyBackup, emptyDeployment } from '../../src/contract/results.ts';
import type { DeploymentResult } from '../../src/contract/run.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { adviceOf, slowdownOf, tooFewTries, type Budget, timeToVerdict } from '../../src/features/advice/rules.ts';
import { quantile, usualOf, type Observation } from '../../src/rules/usual.ts';

const SECOND = 1_000;
const BUDGET: Budget = { intervalMs: 10 * SECOND, tries: 30 };

const took = (seconds: number, count = 1): Observation[] =>
  Array.from({ length: count }, () => ({ ms: seconds * SECOND, ended: true }));
const timedOut = (seconds: number, count = 1): Observation[] =>
  Array.from({ length: count }, () => ({ ms: seconds * SECOND, ended: false }));

const observations = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 600_000 }), ended: fc.boolean() }), {
  minLength: 1,
  maxLength: 120,
});
const parts = fc.integer({ min: 1, max: 100 }).map((percent) => percent / 100);

/** A quantile that is not known is longer than any that is. */
const least = (ms: number | null): number => ms ?? Infinity;

describe('a quantile of durations', () => {
  test('is the value at the nearest rank if all of them ended', () => {
    fc.assert(
      fc.property(observations, fc.integer({ min: 1, max: 100 }), (past, percent) => {
        const ended = past.map(({ ms }) => ({ ms, ended: true }));
        const sorted = past.map(({ ms }) => ms).sort((a, b) => a - b);
        // In whole numbers, so that no rounding decides the rank.
        assert.equal(quantile(ended, percent / 100), sorted[Math.ceil((percent * sorted.length) / 100) - 1]);
      }),
    );
  });

  test('is a duration that was seen to end, and grows with the part', () => {
    fc.assert(
      fc.property(observations, parts, parts, (past, one, other) => {
        const [low, high] = [quantile(past, Math.min(one, other)), quantile(past, Math.max(one, other))];
        assert.ok(low === null || past.some(({ ms, ended }) => ended && ms === low));
        assert.ok(least(low) <= least(high));
      }),
    );
  });

  test('is no shorter than without what timed out, nor than if that had ended at its limit', () => {
    fc.assert(
      fc.property(observations, parts, (past, part) => {
        const found = least(quantile(past, part));
        const ended = past.filter((it) => it.ended);
        if (ended.length > 0) assert.ok(least(quantile(ended, part)) <= found);
        assert.ok(
          least(
            quantile(
              past.map((it) => ({ ...it, ended: true })),
              part,
            ),
          ) <= found,
        );
      }),
    );
  });

  test('does not depend on the order, nor on how long after the last end the rest timed out', () => {
    fc.assert(
      fc.property(observations, parts, fc.integer({ min: 0, max: 10_000 }), (past, part, moreMs) => {
        const lastMs = Math.max(...past.map(({ ms, ended }) => (ended ? ms : 0)));
        const later = past.map((it) => (!it.ended && it.ms >= lastMs ? { ...it, ms: it.ms + moreMs } : it));
        assert.equal(quantile(later.reverse(), part), quantile(past, part));
      }),
    );
  });

  test('is not known if too many timed out before', () => {
    assert.equal(quantile([...took(10, 19), ...timedOut(20)], 0.95), 10 * SECOND);
    assert.equal(quantile([...took(10, 18), ...timedOut(20, 2)], 0.95), null);
    assert.equal(quantile(timedOut(20, 5), 0.5), null);
    assert.equal(quantile([], 0.5), null);
  });

  test('counts what timed out at a smaller limit among those that may take longer', () => {
    // Of 20, half had a limit of 150 s: nothing says that they took less than the other half.
    assert.equal(quantile([...timedOut(150, 10), ...took(200, 10)], 0.5), 200 * SECOND);
    // By Kaplan and Meier: 0.8 are in progress after 10 s, then 0.8 × 2/3 after 30 s, and half of that after 40 s.
    const past = [...took(10), ...timedOut(20), ...took(30), ...took(40), ...timedOut(50)];
    assert.deepEqual(
      [quantile(past, 0.2), quantile(past, 0.4), quantile(past, 0.7), quantile(past, 0.8)],
      [10 * SECOND, 30 * SECOND, 40 * SECOND, null],
    );
  });
});

describe('what is usual', () => {
  test('is not said of fewer than five, or if most timed out', () => {
    assert.equal(usualOf(took(60, 4)), null);
    assert.deepEqual(usualOf(took(60, 5)), { usuallyMs: 60 * SECOND, p95Ms: 60 * SECOND, n: 5 });
    assert.equal(usualOf([...took(60, 2), ...timedOut(300, 4)]), null);
    assert.deepEqual(usualOf([...took(60, 4), ...timedOut(300, 2)]), { usuallyMs: 60 * SECOND, p95Ms: null, n: 6 });
  });
});

describe('advice on the number of tries', () => {
  test('is to raise it to 1.5 times a 95th percentile that takes more than 80 % of the budget', () => {
    const past = [...took(60, 94), ...took(284, 6)];
    const found = tooFewTries(past, BUDGET);
    assert.deepEqual(found, {
      ...{ budget: BUDGET, p95Ms: 284 * SECOND, n: 100, timedOut: 0 },
      suggested: { intervalMs: 10 * SECOND, tries: 43 },
    });
    const { advice, suggestedBudget } = adviceOf({ target: siteTarget('34') }, past, BUDGET);
    assert.deepEqual(advice, ['p95 is 284 s of your 300 s: raise --deploy-tries to 43']);
    assert.deepEqual(suggestedBudget, found?.suggested);
  });

  test('is to double it if more than a twentieth timed out', () => {
    const past = [...timedOut(300, 3), ...took(60, 17)];
    assert.deepEqual(adviceOf({ serverId: '12' }, past, BUDGET).advice, [
      '3 of the last 20 timed out at 300 s: raise --backup-tries to 60',
    ]);
  });

  test('is not given for an ample budget, for fewer than ten, or because of timeouts of a much smaller budget', () => {
    assert.equal(tooFewTries([...took(60, 94), ...took(240, 6)], BUDGET), null);
    assert.equal(tooFewTries(took(290, 9), BUDGET), null);
    assert.ok(tooFewTries(took(290, 10), BUDGET));
    assert.equal(tooFewTries([...timedOut(100, 10), ...took(60, 10)], BUDGET), null);
  });

  test('is to raise the interval where there may be no more tries', () => {
    const past = timedOut(20_000, 10);
    const budget = { intervalMs: 10 * SECOND, tries: 2_000 };
    assert.deepEqual(adviceOf({ serverId: '12' }, past, budget).advice, [
      '10 of the last 10 timed out at 20000 s: raise --backup-interval to 20s and --backup-tries to 2000',
    ]);
  });

  test('always leads to a larger budget, for which the same past gives no advice', () => {
    const budgets = fc.record({
      intervalMs: fc.integer({ min: 10, max: 60 * SECOND }),
      tries: fc.integer({ min: 1, max: 2_000 }),
    });
    fc.assert(
      fc.property(observations, budgets, (past, budget) => {
        const found = tooFewTries(past, budget);
        if (found === null) return;
        const { suggested } = found;
        assert.ok(suggested.intervalMs * suggested.tries > budget.intervalMs * budget.tries);
        assert.ok(suggested.tries >= 1 && suggested.tries <= 2_000);
        if (found.p95Ms !== null) assert.equal(tooFewTries(past, suggested), null);
      }),
    );
  });
});

describe('a slowdown', () => {
  test('is told if the median of the newest 50 is more than 1.5 times that of the 50 before', () => {
    const past = [...took(210, 50), ...took(130, 50)];
    assert.deepEqual(slowdownOf(past), { wasMs: 130 * SECOND, isMs: 210 * SECOND });
    assert.deepEqual(adviceOf({ target: siteTarget('34') }, past, null).advice, [
      'slower than it was: the median is 210 s, and was 130 s',
    ]);
    assert.equal(slowdownOf(past.toReversed()), null);
    assert.equal(slowdownOf([...took(195, 50), ...took(130, 50)]), null);
  });

  test('is not told of fewer than ten each', () => {
    assert.equal(slowdownOf([...took(210, 9), ...took(130, 10)]), null);
    assert.ok(slowdownOf([...took(210, 10), ...took(130, 10)]));
  });
});

const at = (seconds: number): string => new Date(seconds * SECOND).toISOString();

const deployed = (more: Partial<DeploymentResult>): DeploymentResult => ({
  ...emptyDeployment(siteTarget('34')),
  ...{ outcome: 'completed', evidence: 'transition' },
  ...{ startedAt: at(0), acceptedAt: at(100), inProgressAt: at(150), verdictAt: at(160), endedAt: at(200) },
  ...more,
});

describe('what a result shows about how long an operation took', () => {
  test('counts from the acceptance to the verdict, without the lock, the baseline and the check of the site', () => {
    assert.deepEqual(timeToVerdict(deployed({})), { ms: 60 * SECOND, ended: true });
    const before: Partial<DeploymentResult> = deployed({});
    delete before.verdictAt;
    assert.deepEqual(timeToVerdict(before as DeploymentResult), { ms: 100 * SECOND, ended: true });
    const backup = { ...emptyBackup('12', 'created'), outcome: 'failed', acceptedAt: at(5), endedAt: at(65) } as const;
    assert.deepEqual(timeToVerdict(backup), { ms: 60 * SECOND, ended: true });
  });

  test('takes a timeout for a duration that is at least as long', () => {
    assert.deepEqual(timeToVerdict(deployed({ outcome: 'timed_out' })), { ms: 60 * SECOND, ended: false });
  });

  test('leaves out what ended otherwise, what was not accepted, and a request in doubt', () => {
    const inDoubt = { attempts: 2, ambiguous: true, reconciledBy: 'resent' } as const;
    const others: Partial<DeploymentResult>[] = [
      ...(['unknown', 'cancelled', 'not_started', null] as const).map((outcome) => ({ outcome })),
      { acceptedAt: null },
      { trigger: inDoubt },
    ];
    for (const more of others) assert.equal(timeToVerdict(deployed(more)), null, JSON.stringify(more));
  });

  test('takes the settle time for a part of the time to the verdict', () => {
    const settled = deployed({ evidence: 'settled' });
    assert.deepEqual(timeToVerdict(settled), { ms: 60 * SECOND, ended: true });
  });
});
