import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { medianOf, timesAsMuch } from '../../bench/statistics/differences.ts';
import { latenessOfBeat, latenessOfGaps, type Read } from '../../bench/statistics/lateness.ts';
import { lineThrough } from '../../bench/statistics/line-fit.ts';
import { firstReadsAfter, readsPerSecond } from '../../bench/statistics/restart.ts';
import { spreadOf } from '../../bench/statistics/spread.ts';
import { seededTape } from '../sim/tape.ts';

const INTERVAL_MS = 10_000;
const SPAN = { fromMs: 100_000, toMs: 160_000, intervalMs: INTERVAL_MS };

/** Reads of a wait on its beat, each this much late; null for one that is not made. */
const onBeat = (site: string, phaseMs: number, late: readonly (number | null)[]): Read[] =>
  late.flatMap((ms, index) => (ms === null ? [] : [{ site, atMs: SPAN.fromMs + phaseMs + index * INTERVAL_MS + ms }]));

function random(): () => number {
  const tape = seededTape(7);
  return () => tape.choose('share', 1_000_000) / 1_000_000;
}

describe('the lateness of waits on a beat', () => {
  test('is zero for punctual reads, whatever their phase', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: INTERVAL_MS - 2_000 }), (phaseMs) => {
        const { lateMs, unread } = latenessOfBeat(['a'], onBeat('a', phaseMs, [0, 0, 0, 0, 0, 0]), SPAN);
        assert.deepEqual({ lateMs, unread }, { lateMs: [0, 0, 0, 0, 0, 0], unread: 0 });
      }),
    );
  });

  test('is found against the most punctual read, also if the first or the last one is late', () => {
    assert.deepEqual(latenessOfBeat(['a'], onBeat('a', 500, [40, 0, 0, 7, 0, 3_000]), SPAN).lateMs, [
      ...[0, 0, 0, 7, 40, 3_000],
    ]);
  });

  test('counts a read that was not made as late until the next one', () => {
    const { lateMs, unread } = latenessOfBeat(['a'], onBeat('a', 500, [0, 0, null, 2_000, 0, 0]), SPAN);
    assert.deepEqual({ lateMs, unread }, { lateMs: [0, 0, 0, 0, 2_000, 12_000], unread: 0 });
  });

  test('counts reads that are missing at the end as late as the span shows', () => {
    const { lateMs, unread } = latenessOfBeat(['a'], onBeat('a', 500, [0, 0, 0, 0]), SPAN);
    assert.deepEqual({ lateMs, unread }, { lateMs: [0, 0, 0, 0, 9_500, 19_500], unread: 2 });
  });

  test('counts a wait without any read, as far as reads of it were surely due', () => {
    const { lateMs, unread } = latenessOfBeat(['a'], [], { ...SPAN, toMs: SPAN.fromMs + 30_000 });
    assert.deepEqual({ lateMs, unread }, { lateMs: [10_000, 20_000], unread: 2 });
    assert.equal(latenessOfBeat(['a'], [], { ...SPAN, toMs: SPAN.fromMs + 4_000 }).unread, 0);
  });

  test('ignores other sites and reads outside of the span', () => {
    const reads = [...onBeat('a', 0, [0, 0, 0, 0, 0, 0, 0, 0]), ...onBeat('b', 3, [900])];
    assert.deepEqual(latenessOfBeat(['a'], reads, SPAN).lateMs, [0, 0, 0, 0, 0, 0]);
  });
});

test('the lateness of gaps is what each gap of a wait is longer than the interval', () => {
  const reads = [...onBeat('a', 0, [0, 30, 30, 90]), ...onBeat('b', 5, [0, -200, 0])].sort((x, y) => x.atMs - y.atMs);
  assert.deepEqual(latenessOfGaps(reads, INTERVAL_MS), [0, 0, 30, 60, 200]);
});

describe('the reads after a restart', () => {
  const reads = [
    ...[990, 1_000, 1_500, 2_400].map((atMs) => ({ site: 'a', atMs })),
    ...[500, 3_000].map((atMs) => ({ site: 'b', atMs })),
  ];

  test('are counted from the restart, the first one of each wait', () => {
    assert.deepEqual(firstReadsAfter(1_000, ['b', 'a', 'c'], reads), { afterMs: [0, 2_000], unread: 1 });
  });

  test('are counted in whole seconds of the span', () => {
    assert.deepEqual(readsPerSecond(reads, { fromMs: 900, toMs: 3_950 }), [3, 1, 1]);
  });
});

describe('paired differences', () => {
  test('have the median of the rounds, within an interval of the values that were measured', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0.1, max: 10, noNaN: true }), { minLength: 1, maxLength: 9 }), (ratios) => {
        const { median, from, to } = medianOf(ratios, random());
        const sorted = [...ratios].sort((a, b) => a - b);
        assert.ok(from <= to && from >= sorted[0]! && to <= sorted.at(-1)!);
        assert.ok(sorted.filter((it) => it < median).length <= ratios.length / 2);
        assert.ok(sorted.filter((it) => it > median).length <= ratios.length / 2);
      }),
    );
  });

  test('of a way with itself are exactly one', () => {
    const taken = [3, 5, 8].map((value, round) => ({ way: 'a', round, value }));
    const again = taken.map((it) => ({ ...it, way: 'b' }));
    assert.deepEqual(
      timesAsMuch([...taken, ...again], { way: 'b', as: 'a' }, ({ value }) => value, random()),
      {
        ...{ median: 1, from: 1, to: 1 },
      },
    );
  });

  test('compare only the same round, and never with nothing', () => {
    const all = [
      { way: 'a', round: 0, value: 2 },
      { way: 'a', round: 1, value: 0 },
      { way: 'b', round: 0, value: 6 },
      { way: 'b', round: 1, value: 7 },
      { way: 'b', round: 2, value: 100 },
    ];
    assert.equal(timesAsMuch(all, { way: 'b', as: 'a' }, ({ value }) => value, random())?.median, 3);
    assert.equal(
      timesAsMuch(all, { way: 'c', as: 'a' }, ({ value }) => value, random()),
      null,
    );
  });
});

test('a line through points has their slope, and needs two different ones', () => {
  assert.deepEqual(
    lineThrough([
      [0, 5],
      [10, 25],
      [20, 45],
    ]),
    { slope: 2, intercept: 5 },
  );
  assert.equal(lineThrough([]), null);
  assert.equal(
    lineThrough([
      [3, 1],
      [3, 2],
    ]),
    null,
  );
});

test('a spread has the values below which parts lie', () => {
  const values = Array.from({ length: 1_000 }, (_, index) => index);
  assert.deepEqual(spreadOf(values), { count: 1_000, p50: 500, p90: 900, p99: 990, most: 999 });
});
