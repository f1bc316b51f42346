/**
 * Admits runs no faster than this worker can carry them, which is as long as its reads stay on time. A few runs may
 * begin at once. The others wait in a task queue of Temporal, so that any worker can admit the next one.
 */
import { TIMING } from '../contract/timing.ts';
import { createLeastDifference } from './least-difference.ts';

export type Admission = ReturnType<typeof createAdmission>;

const SECOND = 1_000;
/** The figures behind these settings are in docs/explanation/performance.md. */
const AT_ONCE = 10;
const PER_SECOND = { first: 10, least: 0.5, most: 30 };
const CHANGE = { slower: 0.7, faster: 1.15 };
/** The last burst says little about a later one. */
const FORGET_MS = 60 * SECOND;

export function createAdmission(clockMs: () => number = () => performance.now()) {
  const lateness = createLateness(clockMs);
  let perSecond = PER_SECOND.first;
  // One place is left for waiting runs.
  let places = AT_ONCE + 1;
  let wantedMs = -Infinity;
  let [filledMs, changedMs] = [clockMs(), clockMs()];

  /** While runs wait, late reads lower the rate and punctual reads raise it. */
  function change(nowMs: number): void {
    if (nowMs - changedMs < SECOND) return;
    const isWanted = wantedMs >= changedMs;
    changedMs = nowMs;
    const late = lateness.take();
    const lateMs = late[Math.floor(0.9 * late.length)];
    if (nowMs - wantedMs > FORGET_MS) perSecond = PER_SECOND.first;
    if (lateMs === undefined || !isWanted) return;
    const { lateReadMs, punctualReadMs } = TIMING.admission;
    if (lateMs > lateReadMs) perSecond = Math.max(PER_SECOND.least, perSecond * CHANGE.slower);
    else if (lateMs < punctualReadMs) perSecond = Math.min(PER_SECOND.most, perSecond * CHANGE.faster);
  }

  /** @returns whether there are at least this many places */
  function has(least: number): boolean {
    const nowMs = clockMs();
    change(nowMs);
    places = Math.min(AT_ONCE + 1, places + ((nowMs - filledMs) * perSecond) / SECOND);
    filledMs = nowMs;
    if (places >= least) return true;
    wantedMs = nowMs;
    return false;
  }

  /** @returns a function that returns false if there are too few places */
  const takeOne = (least: number) => () => {
    const isThere = has(least);
    if (isThere) places -= 1;
    return isThere;
  };

  return {
    /** Takes a place for a run that begins now, if one is left for the runs that wait already. */
    admitNewcomer: takeOne(2),
    /** True if the next waiting run may begin. */
    hasPlace: () => has(1),
    /** Takes a place for the next waiting run. */
    takePlace: takeOne(1),
    /** How long until there is a place, if no other run takes it first. */
    waitMs: () => (has(1) ? 0 : Math.ceil(((1 - places) * SECOND) / perSecond)),
    /** @param dueMs when a read that is made now was due, by Temporal's clock. @returns how late it is */
    noteRead: (dueMs: number) => lateness.note(dueMs),
  };
}

/*
 * Measures how late the reads of this worker are. Temporal's clock says when a read is due, and this worker's clock
 * when it is made. The difference of a punctual read shows how far the clocks are apart, so the smallest recent
 * difference counts as punctual.
 */

/** Someone may have set a clock, so the next read is compared with this one. */
const IMPLAUSIBLE_MS = 60_000;

export function createLateness(clockMs: () => number) {
  const difference = createLeastDifference(clockMs);
  let noted: number[] = [];

  return {
    /** Call this when a read is made. @param dueMs when it was due, by Temporal's clock. @returns how late it is */
    note(dueMs: number): number {
      const apartMs = clockMs() - dueMs;
      const lateMs = Math.max(0, apartMs - difference.leastMs());
      if (lateMs > IMPLAUSIBLE_MS) difference.forget();
      difference.note(apartMs);
      noted.push(lateMs);
      return lateMs;
    },
    /** Returns what has been noted since the last call, in ms, sorted. */
    take(): number[] {
      const taken = noted.sort((a, b) => a - b);
      noted = [];
      return taken;
    },
  };
}
