/** The shortest budgets that a busy machine allows. Guards against a stalled worker keep their values. */
import { TIMING as REAL } from '../../../src/contract/timing.ts';

const SECOND = 1_000;
const answerMs = 4 * SECOND;
const activityMs = REAL.post.permitMs + answerMs + REAL.post.spareMs;

export const TIMING: typeof REAL = {
  ...REAL,
  post: { ...REAL.post, answerMs, activityMs, underWayMs: REAL.post.takenWithinMs + activityMs },
  read: { ...REAL.read, answerMs: 5 * SECOND, activityMs: 6 * SECOND },
  lookup: { ...REAL.lookup, pollersMs: 4 * SECOND },
  // Tests of one file share a worker, and so its pauses. A read waits for a second.
  pace: { defaultPauseMs: 300, leastPauseMs: 100, maxPauseMs: 2 * SECOND, spreadMs: 200, countWorkersMs: SECOND },
  poll: { ...REAL.poll, unauthorizedPauseMs: 3 * SECOND, parkedPauseMs: SECOND },
  // A busy machine reads late, and then the outcome of a POST stays unknown.
  verdict: { ...REAL.verdict, minSettleMs: 3 * SECOND, coverageSlackMs: 30 * SECOND },
  // Temporal asks a workflow of its own about each schedule, which takes long on a busy machine.
  client: { ...REAL.client, limitedMs: 10 * SECOND, maxLimitedPauseMs: 200, scheduleMs: 600 * SECOND },
  report: { ...REAL.report, lookMs: SECOND, lateLookMs: 2 * SECOND },
  lock: { ...REAL.lock, lookAgainMs: 4 * SECOND, handOverMs: 2 * SECOND },
} as unknown as typeof REAL;
