import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createPacer } from '../../src/hosting-api/pacer.ts';

const HOUR_MS = 3_600_000;
const LIMITS = { defaultPauseMs: 5_000, maxPauseMs: 60_000, spreadMs: 2_000 };

/** A pacer at a time that the test moves, with the middle of every random range. */
function pacerAt(startMs = 0) {
  let nowMs = startMs;
  const pacer = createPacer(
    LIMITS,
    () => nowMs,
    () => 0.5,
  );
  return { pacer, moveTo: (ms: number) => void (nowMs = ms) };
}

const read = (key: string) => ({ key, isTrigger: false });
const post = (key: string) => ({ key, isTrigger: true });

test('without a pause and a ceiling, every request is granted at once', () => {
  const { pacer } = pacerAt();
  for (const key of ['a', 'b', 'a']) assert.deepEqual(pacer.turn(read(key), 0), { waitMs: 0, granted: true });
});

for (const [what, retryAfterMs, pauseMs] of [
  ['the time that the service names', 10_000, 10_000],
  ['the default if it names none', null, LIMITS.defaultPauseMs],
  ['the longest pause if it names centuries', 1e13, LIMITS.maxPauseMs],
] as const) {
  test(`a pause holds every request back for ${what}`, () => {
    const { pacer, moveTo } = pacerAt();
    pacer.pause(retryAfterMs);
    assert.deepEqual(pacer.turn(post('p'), 0), { waitMs: pauseMs, granted: false });
    // Spread, so that the reads of all runs do not come again at the same moment.
    assert.deepEqual(pacer.turn(read('r'), 0), { waitMs: pauseMs + LIMITS.spreadMs / 2, granted: false });
    assert.equal(pacer.isPaused, true);
    moveTo(pauseMs);
    assert.equal(pacer.isPaused, false);
    assert.deepEqual(pacer.turn(read('r'), 0), { waitMs: 0, granted: true });
  });
}

test('a shorter pause does not end a longer one', () => {
  const { pacer } = pacerAt();
  pacer.pause(20_000);
  pacer.pause(0);
  assert.equal(pacer.turn(post('p'), 0).waitMs, 20_000);
});

test('a request waits for the end of a pause that is near enough', () => {
  const { pacer } = pacerAt();
  pacer.pause(1_000);
  assert.deepEqual(pacer.turn(post('p'), 1_000), { waitMs: 1_000, granted: true });
});

test('reads that the ceiling holds back come again in the order in which they came', () => {
  const { pacer, moveTo } = pacerAt();
  pacer.setShare(1);
  const waits = ['a', 'b', 'c', 'd'].map((key) => pacer.turn(read(key), 0).waitMs);
  assert.deepEqual(waits, [0, 1_000, 2_000, 3_000]);
  moveTo(1_000);
  assert.equal(pacer.turn(read('new'), 0).waitMs, 3_000, 'a new read is last');
  assert.deepEqual(pacer.turn(read('b'), 0), { waitMs: 0, granted: true });
});

test('a trigger goes before the reads that wait, and after the triggers', () => {
  const { pacer } = pacerAt();
  pacer.setShare(1);
  for (const key of ['a', 'b', 'c']) pacer.turn(read(key), 0);
  assert.equal(pacer.turn(post('p'), 0).waitMs, 1_000);
  assert.equal(pacer.turn(post('q'), 0).waitMs, 2_000);
});

test('a read whose place a trigger took comes next', () => {
  const { pacer, moveTo } = pacerAt();
  pacer.setShare(1);
  pacer.turn(read('a'), 0);
  assert.equal(pacer.turn(read('b'), 0).waitMs, 1_000);
  moveTo(1_000);
  assert.equal(pacer.turn(post('p'), 0).granted, true);
  assert.deepEqual(pacer.turn(read('b'), 0), { waitMs: 1_000, granted: false });
  moveTo(2_000);
  assert.equal(pacer.turn(read('b'), 0).granted, true);
});

test('a trigger that comes again is sent although its baseline took the turn, and the reads after it wait longer', () => {
  const { pacer, moveTo } = pacerAt();
  pacer.setShare(0.5);
  pacer.turn(read('other'), 0);
  assert.equal(pacer.turn(post('p'), 0).waitMs, 2_000);
  moveTo(2_000);
  assert.equal(pacer.turn(read('baseline'), 0).granted, true);
  assert.deepEqual(pacer.turn(post('p'), 0), { waitMs: 0, granted: true });
  assert.equal(pacer.turn(read('after'), 0).waitMs, 4_000);
});

test('a read that never comes again gives up its place', () => {
  const { pacer, moveTo } = pacerAt();
  pacer.setShare(0.000_1);
  pacer.turn(read('a'), 0);
  pacer.turn(read('gone'), 0);
  moveTo(10_000_000 + HOUR_MS + 1);
  pacer.turn(read('b'), 0);
  assert.equal(pacer.turn(read('c'), 0).waitMs, 10_000_000);
});

test('a read that comes again after minutes still has its place, however many come meanwhile', () => {
  const { pacer, moveTo } = pacerAt();
  pacer.setShare(1);
  pacer.turn(read('first'), 0);
  pacer.turn(read('patient'), 0);
  for (let ms = 1_000; ms <= HOUR_MS / 2; ms += 250) {
    moveTo(ms);
    pacer.turn(read(`at ${ms % 7_000}`), 0);
  }
  moveTo(HOUR_MS / 2 + 1_000);
  assert.equal(pacer.turn(read('patient'), 0).granted, true);
});

test('property: granted requests keep the share, whoever asks and whenever', () => {
  const asked = fc.record({
    afterMs: fc.integer({ min: 0, max: 300 }),
    key: fc.integer({ min: 0, max: 8 }),
    isTrigger: fc.boolean(),
    maxWaitMs: fc.constantFrom(0, 200, 1_000),
    pauseMs: fc.option(fc.integer({ min: 0, max: 500 })),
  });
  fc.assert(
    fc.property(fc.constantFrom(0.5, 2, 10, 100), fc.array(asked, { maxLength: 60 }), (share, all) => {
      const { pacer, moveTo } = pacerAt();
      pacer.setShare(share);
      let nowMs = 0;
      let pausedUntilMs = 0;
      const sentMs: number[] = [];
      for (const { afterMs, key, isTrigger, maxWaitMs, pauseMs } of all) {
        moveTo((nowMs += afterMs));
        if (pauseMs !== null) {
          pacer.pause(pauseMs);
          pausedUntilMs = Math.max(pausedUntilMs, nowMs + pauseMs);
        }
        const { waitMs, granted } = pacer.turn({ key: `${key} ${isTrigger}`, isTrigger }, maxWaitMs);
        assert.equal(granted, waitMs <= maxWaitMs);
        if (!granted) continue;
        assert.ok(nowMs + waitMs >= pausedUntilMs, 'sent during a pause');
        sentMs.push(nowMs + waitMs);
      }
      const nextMs = nowMs + pacer.turn(read('new'), 0).waitMs;
      assert.ok(sentMs.length === 0 || nextMs >= sentMs[0]! + (1_000 / share) * sentMs.length - 0.001);
    }),
  );
});

test('property: everyone who comes again when told is served, however many they are', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.constantFrom(1, 7), (readers, share) => {
      const { pacer, moveTo } = pacerAt();
      pacer.setShare(share);
      const due = new Map(Array.from({ length: readers }, (_, index) => [`r${index}`, 0]));
      let rounds = 0;
      while (due.size > 0) {
        rounds += 1;
        assert.ok(rounds <= 3 * readers, 'somebody starves');
        const [key, atMs] = [...due].reduce((a, b) => (b[1] < a[1] ? b : a));
        moveTo(atMs);
        const { waitMs, granted } = pacer.turn(read(key), 0);
        if (granted) due.delete(key);
        else due.set(key, atMs + waitMs);
      }
    }),
  );
});
