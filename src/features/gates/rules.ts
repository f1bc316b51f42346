/** Decides when a gate has passed or failed. Missing data is neither good nor bad. Pure. */
import { HISTORY_BUDGET, leavesRoomInRollout } from '../../contract/history-budget.ts';
import type { GatePlan, GateVerdict, Measurement } from './shapes.ts';

export interface GateState {
  tries: number;
  goodInARow: number;
  bad: number;
  refused: number;
  /** The last five, newest last. */
  last: Measurement[];
}

type Pace = Pick<GatePlan, 'tries' | 'inARow' | 'failures'>;

export const NO_MEASUREMENT: GateState = { tries: 0, goodInARow: 0, bad: 0, refused: 0, last: [] };

const KEPT = 5;
/** A query that was refused this many times will be refused again. */
const MAX_REFUSED = 3;

export function noteMeasurement(state: GateState, measured: Measurement): GateState {
  const { state: kind } = measured;
  return {
    tries: state.tries + 1,
    // Only a bad measurement breaks the row.
    goodInARow: kind === 'bad' ? 0 : state.goodInARow + (kind === 'good' ? 1 : 0),
    bad: state.bad + (kind === 'bad' ? 1 : 0),
    refused: state.refused + (kind === 'refused' ? 1 : 0),
    last: [...state.last, measured].slice(-KEPT),
  };
}

/** @returns null while the gate is undecided */
export function verdictOf(state: GateState, { tries, inARow, failures }: Pace): GateVerdict | null {
  if (state.bad > failures) return 'failed';
  if (state.goodInARow >= inARow) return 'passed';
  return state.tries >= tries || state.refused >= MAX_REFUSED ? 'inconclusive' : null;
}

const SLOWER = 10;
const MIN_SLOW_MS = 5 * 60_000;
/** The limit for all inconclusive gates together. It keeps the history short, however long the patience is. */
const MAX_SLOW_MEASUREMENTS = 300;

/** Returns how often to measure each of `count` inconclusive gates while the rollout is paused. */
export const slowIntervalMs = (
  { intervalMs }: Pick<GatePlan, 'intervalMs'>,
  patienceMs: number,
  count: number,
): number => Math.max(SLOWER * intervalMs, MIN_SLOW_MS, Math.ceil((patienceMs * count) / MAX_SLOW_MEASUREMENTS));

/**
 * Temporal terminates a workflow whose history is full, so this reserves room for the rest of the rollout.
 *
 * @param pending servers that the rollout has not started
 */
export function hasRoomToMeasure(
  { historyLength, historySize }: { historyLength: number; historySize: number },
  pending: number,
): boolean {
  return leavesRoomInRollout(historyLength, pending) && historySize < HISTORY_BUDGET.gatesUntilBytes;
}
