import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { expectDuration } from '../../src/activities/learned-polling/expectation.ts';
import { learnReads } from '../../src/activities/learned-polling/learn-reads.ts';
import { evenReads, expectedReads, placeReads, type Beat } from '../../src/activities/learned-polling/place-reads.ts';
import { seededTape } from '../sim/tape.ts';

const SECOND = 1_000;
const DEPLOYMENTS: Beat = { intervalMs: 10 * SECOND, tries: 30 };
const BACKUPS: Beat = { intervalMs: 15 * SECOND, tries: 20 };
const RUNS = 70;
const PARTS = 1_000_000;

const beats = fc.record({
  intervalMs: fc.integer({ min: 1_001, max: 120 * SECOND }),
  tries: fc.integer({ min: 1, max: 60 }),
});
const pasts = fc.array(fc.option(fc.integer({ min: 0, max: 1_800 * SECOND })), { minLength: 3, maxLength: 30 });

describe('reads placed where an end is expected', () => {
  test('are as many as tries, 1 s to 3 intervals apart, and the last one is made when it would be anyway', () => {
    fc.assert(
      fc.property(pasts, beats, (past, beat) => {
        const lastMs = beat.intervalMs * beat.tries;
        const reads = placeReads(expectDuration(past, lastMs), beat);
        if (reads === null) return;
        assert.equal(reads.length, beat.tries);
        assert.equal(reads.at(-1), lastMs);
        for (const [index, ms] of reads.entries()) {
          const gapMs = ms - (reads[index - 1] ?? 0);
          // Rounded to milliseconds, and the search for the density stops at a ten-thousandth.
          assert.ok(gapMs >= SECOND - 1 && gapMs <= 3.01 * beat.intervalMs, `${gapMs}: ${reads.join()}`);
        }
      }),
    );
  });

  test('are no more, in the mean, than even reads', () => {
    fc.assert(
      fc.property(pasts, beats, (past, beat) => {
        const expected = expectDuration(past, beat.intervalMs * beat.tries);
        const reads = placeReads(expected, beat);
        if (reads !== null) assert.ok(expectedReads(expected, reads) <= expectedReads(expected, evenReads(beat)));
      }),
    );
  });

  test('are not placed closer than a second, so an interval of a second stays as it is', () => {
    assert.equal(learnReads(Array<number>(20).fill(10 * SECOND), { intervalMs: SECOND, tries: 60 }), null);
  });
});

describe('what is learned', () => {
  test('is nothing from fewer than three durations', () => {
    assert.equal(learnReads([60 * SECOND, 60 * SECOND, null, null], DEPLOYMENTS), null);
    assert.ok(learnReads([60 * SECOND, 60 * SECOND, 60 * SECOND], DEPLOYMENTS));
  });

  test('brings a quarter of the delay for steady durations', () => {
    const steady = (meanMs: number) => (random: () => number) => meanMs * Math.exp(0.05 * normal(random));
    assert.ok(gain(steady(60 * SECOND), DEPLOYMENTS) < 0.25);
    assert.ok(gain(steady(180 * SECOND), BACKUPS) < 0.3);
  });

  test('brings about half of the delay for durations of two kinds', () => {
    const mixed = (random: () => number) => (random() < 0.3 ? 60 : 200) * SECOND * Math.exp(0.08 * normal(random));
    assert.ok(gain(mixed, BACKUPS) < 0.65);
  });

  test('follows durations that change', () => {
    const jumping = (random: () => number, index: number) =>
      (Math.floor(index / 30) % 2 === 0 ? 120 : 200) * SECOND * Math.exp(0.08 * normal(random));
    assert.ok(gain(jumping, BACKUPS) < 0.75);
  });

  test('does no harm where durations vary too much to learn from', () => {
    const wide: [(random: () => number) => number, Beat][] = [
      [(random) => (60 + 180 * random()) * SECOND, BACKUPS],
      [(random) => 40 * SECOND * (1 - random()) ** (-1 / 1.5), BACKUPS],
      [(random) => 45 * SECOND * Math.exp(0.8 * normal(random)), DEPLOYMENTS],
    ];
    for (const [draw, beat] of wide) assert.ok(gain(draw, beat) < 1.1);
  });
});

/** The mean delay from an end to the next read, as a part of that of even reads, once it has learned. */
function gain(draw: (random: () => number, index: number) => number, beat: Beat): number {
  const even = evenReads(beat);
  const delayMs = (reads: readonly number[], tookMs: number) => (reads.find((ms) => ms >= tookMs) ?? tookMs) - tookMs;
  let [learned, fixed] = [0, 0];
  const tape = seededTape(1);
  const random = () => tape.choose('a part', PARTS) / PARTS;
  const past: (number | null)[] = [];
  for (let index = 0; index < RUNS; index += 1) {
    const tookMs = draw(random, index);
    const reads = learnReads(past.slice(0, 30), beat) ?? even;
    if (index >= 20) learned += delayMs(reads, tookMs);
    if (index >= 20) fixed += delayMs(even, tookMs);
    past.unshift(seenAt(reads, tookMs));
  }
  return learned / fixed;
}

/** Reads show only between which two of them it ended. */
function seenAt(reads: readonly number[], tookMs: number): number | null {
  const index = reads.findIndex((ms) => ms >= tookMs);
  return index === -1 ? null : ((reads[index - 1] ?? 0) + reads[index]!) / 2;
}

const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
