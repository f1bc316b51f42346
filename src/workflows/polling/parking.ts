/** A parked operation waits for a service that does not answer. Its outages share one budget. */
import type { Parked } from '../../contract/waiting.ts';
import { endWithoutParking, outageEndsMs, parkedReadAtMs, type Outage } from '../../rules/outage.ts';
import type { GivenUp } from '../../rules/read-failures.ts';

export interface Parking {
  /** When to read next, and what to show; null while not parked. */
  readonly current: { readAtMs: number; reason: GivenUp; shown: Parked } | null;
  /** How long it was parked before. No other budget includes that time. */
  readonly spentMs: number;
  /**
   * Parks, or stays parked. @param reason why the operation ends otherwise
   * @returns null if it is parked now, else why it ends
   */
  park(reason: GivenUp, nowMs: number, notBeforeMs: number): GivenUp | null;
  /** The service answers again. @returns how long it was parked this time */
  leave(nowMs: number): number;
}

/** @param setParked shows it as the phase */
export function createParking(budgetMs: number | null, setParked: (isParked: boolean) => void): Parking {
  let outage: Outage = { budgetMs, spentMs: 0, sinceMs: null };
  let current: Parking['current'] = null;
  return {
    get current() {
      return current;
    },
    get spentMs() {
      return outage.spentMs;
    },
    park(reason, nowMs, notBeforeMs) {
      const readAtMs = parkedReadAtMs(outage, nowMs, notBeforeMs);
      if (readAtMs === null) return endWithoutParking(outage, reason);
      if (outage.sinceMs === null) setParked(true);
      const sinceMs = outage.sinceMs ?? nowMs;
      outage = { ...outage, sinceMs };
      const [since, until] = [new Date(sinceMs).toISOString(), new Date(outageEndsMs(outage, nowMs)).toISOString()];
      current = { readAtMs, reason, shown: { since, until, reason: reason.message } };
      return null;
    },
    leave(nowMs) {
      const parkedMs = nowMs - (outage.sinceMs ?? nowMs);
      outage = { ...outage, spentMs: outage.spentMs + parkedMs, sinceMs: null };
      current = null;
      setParked(false);
      return parkedMs;
    },
  };
}

/** Shows `parked` as the phase, and afterwards the phase of before. */
export function parkedPhase<P>(
  phase: () => P | 'parked',
  setPhase: (phase: P | 'parked') => void,
): (isParked: boolean) => void {
  let before = phase();
  return (isParked) => {
    if (isParked) before = phase();
    setPhase(isParked ? 'parked' : before);
  };
}
