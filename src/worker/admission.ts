/**
 * Admits runs no faster than this worker can carry them, which is as long as its reads stay on time. A few runs may
 * begin at once. The others wait in a task queue of Temporal, so that any worker can admit the next one.
 */
import { TIMING } from '../contract/timing.ts';
import { createLeastDifference } from './least-difference.ts';

export interface Admission {
  /**
   * Takes a place for a run that begins now. Leaves one for the runs that wait already.
   *
   * @returns false if the run has to wait, too
   */
  readonly admitNewcomer: () => boolean;
  /** True if the next waiting run may begin. */
  readonly hasPlace: () => boolean;
  /** Takes a place for the next waiting run. @returns false if there is none */
  readonly takePlace: () => boolean;
  /** How long until there is a place, if no other run takes it first. */
  readonly waitMs: () => number;
  /** @param dueMs when a read that is made now was due, by Temporal's clock. @returns how late it is */
  readonly noteRead: (dueMs: number) => number;
}

const SECOND = 1_000;
/** The figures behind these settings are in docs/explanation/performance.md. */
const AT_ONCE = 10;
const PER_SECOND = { first: 10, least: 0.5, most: 30 };
const CHANGE = { slower: 0.7, faster: 1.15 };
/** The last burst says little about a later one. */
const FORGET_MS = 60 * SECOND;

export function createAdmission(clockMs: () => number = () => performance.now()): Admission {
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

  const takeOne = (least: number) => () => {
    const isThere = has(least);
    if (isThere) places -= 1;
    return isThere;
  };

  return {
    admitNewcomer: takeOne(2),
    hasPlace: () => has(1),
    takePlace: takeOne(1),
    waitMs: () => (has(1) ? 0 : Math.ceil(((1 - places) * SECOND) / perSecond)),
    noteRead: (dueMs) => lateness.note(dueMs),
  };
}

/*
 * Measures how late the reads of this worker are. Temporal's clock says when a read is due, and this worker's clock
 * when it is made. The difference of a punctual read shows how far the clocks are apart, so the smallest recent
 * difference counts as punctual.
 */

export interface Lateness {
  /** Call this when a read is made. @param dueMs when it was due, by Temporal's clock. @returns how late it is */
  note(dueMs: number): number;
  /** Returns what has been noted since the last call, in ms, sorted. */
  take(): number[];
}

/** Someone may have set a clock, so the next read is compared with this one. */
const IMPLAUSIBLE_MS = 60_000;

export function createLateness(clockMs: () => number): Lateness {
  const difference = createLeastDifference(clockMs);
  let noted: number[] = [];

  return {
    note(dueMs) {
      const apartMs = clockMs() - dueMs;
      const lateMs = Math.max(0, apartMs - difference.leastMs());
      if (lateMs > IMPLAUSIBLE_MS) difference.forget();
      difference.note(apartMs);
      noted.push(lateMs);
      return lateMs;
    },
    take() {
      const taken = noted.sort((a, b) => a - b);
      noted = [];
      return taken;
    },
  };
}
