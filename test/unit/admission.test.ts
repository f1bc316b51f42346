import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TIMING } from '../../src/contract/timing.ts';
import { createAdmission, createLateness } from '../../src/worker/admission.ts';

const { lateReadMs } = TIMING.admission;

/**
 * A worker at which runs keep waiting.
 * @returns a function that lets time pass, with reads that are this late, and counts the runs that begin
 */
function busyWorker() {
  let nowMs = 0;
  const admission = createAdmission(() => nowMs);
  admission.noteRead(0);
  return (ms: number, lateMs: number): number => {
    let begun = 0;
    for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 100) {
      while (admission.takePlace()) begun += 1;
      admission.noteRead(nowMs - lateMs);
    }
    return begun;
  };
}

describe('admission', () => {
  test('ten runs begin at once, then ten a second', () => {
    let nowMs = 0;
    const admission = createAdmission(() => nowMs);
    const newcomers = () => {
      let count = 0;
      while (admission.admitNewcomer()) count += 1;
      return count;
    };
    assert.equal(newcomers(), 10);
    nowMs += 500;
    assert.equal(newcomers(), 5);
    nowMs += 3_600_000;
    assert.equal(newcomers(), 10);
  });

  test('runs that wait go before those that begin now', () => {
    let nowMs = 0;
    const admission = createAdmission(() => nowMs);
    while (admission.admitNewcomer());
    assert.ok(admission.takePlace());
    assert.deepEqual([admission.hasPlace(), admission.waitMs()], [false, 100]);
    nowMs += 100;
    assert.ok(!admission.admitNewcomer());
    assert.ok(admission.takePlace());
  });

  test('punctual reads let more and more runs begin, up to a limit', () => {
    const pass = busyWorker();
    const first = pass(5_000, 0);
    pass(20_000, 0);
    const later = pass(5_000, 0);
    assert.ok(later > 1.5 * first && later <= 151, `${first}, ${later}`);
  });

  test('late reads let fewer and fewer runs begin, and some always do', () => {
    const pass = busyWorker();
    const first = pass(5_000, 2 * lateReadMs);
    const later = pass(5_000, 2 * lateReadMs);
    pass(20_000, 2 * lateReadMs);
    const last = pass(20_000, 2 * lateReadMs);
    assert.ok(later < first / 2 && last >= 9 && last <= 11, `${first}, ${later}, ${last}`);
  });

  test('while no run waits, reads change nothing, and a minute later the last burst is forgotten', () => {
    for (const lateMs of [0, 2 * lateReadMs]) {
      let nowMs = 0;
      const admission = createAdmission(() => nowMs);
      admission.noteRead(0);
      for (; nowMs < 60_000; nowMs += 100) {
        admission.hasPlace();
        admission.noteRead(nowMs - lateMs);
      }
      while (admission.takePlace());
      assert.equal(admission.waitMs(), 100);
      for (const endMs = nowMs + 20_000; nowMs < endMs; nowMs += 100) {
        admission.takePlace();
        admission.takePlace();
        admission.noteRead(nowMs - lateMs);
      }
      while (admission.takePlace());
      assert.notEqual(admission.waitMs(), 100);
      nowMs += 70_000;
      while (admission.takePlace());
      assert.equal(admission.waitMs(), 100);
    }
  });
});

describe('the lateness of reads', () => {
  const AHEAD_MS = -3_600_000;

  test('is the same whatever the difference of the clocks', () => {
    const late = (aheadMs: number) => {
      let nowMs = 0;
      const lateness = createLateness(() => nowMs + aheadMs);
      for (const [dueMs, madeMs] of [
        [0, 20],
        [1_000, 1_400],
        [2_000, 2_010],
        [3_000, 3_910],
      ] as const) {
        nowMs = madeMs;
        lateness.note(dueMs);
      }
      return lateness.take();
    };
    assert.deepEqual(late(0), [0, 0, 380, 900]);
    assert.deepEqual(late(AHEAD_MS), late(0));
    assert.deepEqual(late(-AHEAD_MS), late(0));
  });

  test('shows once that a clock was set', () => {
    let nowMs = 0;
    const lateness = createLateness(() => nowMs);
    lateness.note(0);
    for (nowMs = 1_000; nowMs < 4_000; nowMs += 1_000) lateness.note(nowMs + AHEAD_MS);
    assert.deepEqual(lateness.take(), [0, 0, 0, -AHEAD_MS]);
    lateness.note(nowMs + AHEAD_MS - 300);
    assert.deepEqual(lateness.take(), [300]);
  });

  test('of more than a minute counts, too', () => {
    let nowMs = 0;
    const lateness = createLateness(() => nowMs);
    for (; nowMs < 100_000; nowMs += 10_000) {
      lateness.note(nowMs);
      lateness.note(nowMs - 70_000);
    }
    assert.equal(lateness.take().filter((ms) => ms === 70_000).length, 10);
  });

  test('starts over after a pause in which the clocks drifted apart', () => {
    let nowMs = 0;
    const lateness = createLateness(() => nowMs);
    lateness.note(0);
    nowMs = 8 * 3_600_000;
    lateness.note(nowMs - 900);
    lateness.note(nowMs - 950);
    assert.deepEqual(lateness.take(), [0, 0, 50]);
  });

  test('follows clocks that drift apart', () => {
    let nowMs = 0;
    const lateness = createLateness(() => nowMs);
    for (; nowMs < 3_600_000; nowMs += 10_000) lateness.note(nowMs * 0.9999);
    assert.ok(lateness.take().at(-1)! < 100);
  });
});
