/**
 * Lets runs begin no faster than this worker can carry them: as often as its reads stay on time. A few may begin at once.
 * The others wait in a task queue of Temporal, so that they keep their order and any worker can let the next one begin.
 */
import { TIMING } from '../../contract/timing.ts';
import { createLateness } from './lateness.ts';

export interface Admission {
  /** Takes a place for a run that begins, if there is one. */
  readonly takePlace: () => boolean;
  readonly hasPlace: () => boolean;
  /** Until there is a place, if no other run takes it before. */
  readonly waitMs: () => number;
  /** @param dueMs when a read that is made now was due, by Temporal's clock */
  readonly noteRead: (dueMs: number) => void;
}

/** The figures behind these settings are in docs/explanation/measurements.md. */
const AT_ONCE = 10;
const PER_SECOND = { first: 10, least: 0.5, most: 30 };
const CHANGE = { slower: 0.7, faster: 1.15 };
const SECOND = 1_000;

export function createAdmission(clockMs: () => number = () => performance.now()): Admission {
  const lateness = createLateness(clockMs);
  let perSecond = PER_SECOND.first;
  let places = AT_ONCE;
  let isWanted = false;
  let [filledMs, changedMs] = [clockMs(), clockMs()];

  /** Reads that are late ask for fewer runs, and punctual ones allow more while runs wait. */
  function change(nowMs: number): void {
    if (nowMs - changedMs < SECOND) return;
    changedMs = nowMs;
    const late = lateness.take();
    const lateMs = late[Math.floor(0.9 * late.length)];
    if (lateMs === undefined) return;
    const { lateReadMs, punctualReadMs } = TIMING.admission;
    if (lateMs > lateReadMs) perSecond = Math.max(PER_SECOND.least, perSecond * CHANGE.slower);
    else if (lateMs < punctualReadMs && isWanted) perSecond = Math.min(PER_SECOND.most, perSecond * CHANGE.faster);
    isWanted = false;
  }

  function fill(): number {
    const nowMs = clockMs();
    change(nowMs);
    places = Math.min(AT_ONCE, places + ((nowMs - filledMs) * perSecond) / SECOND);
    filledMs = nowMs;
    return places;
  }

  return {
    hasPlace: () => fill() >= 1,
    takePlace() {
      if (fill() < 1) {
        isWanted = true;
        return false;
      }
      places -= 1;
      return true;
    },
    waitMs() {
      const missing = 1 - fill();
      isWanted ||= missing > 0;
      return Math.max(0, Math.ceil((missing * SECOND) / perSecond));
    },
    noteRead: (dueMs) => lateness.note(dueMs),
  };
}
