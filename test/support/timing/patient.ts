/**
 * For the tests that every machine has to pass: short waits, and guards that a machine ten times slower does not
 * notice. What a guard is for is tested in virtual time, and on the real server with the real budgets in
 * production-timings.
 */
import { TIMING as REAL } from '../../../src/contract/budgets/timing.ts';

const SECOND = 1_000;
const LONG = 600 * SECOND;

export const TIMING = {
  ...REAL,
  post: {
    ...REAL.post,
    ...{ takenWithinMs: LONG, permitMs: LONG, sentWithinMs: 3 * LONG, answerMs: LONG, activityMs: 3 * LONG },
    heartbeatTimeoutMs: LONG,
  },
  read: {
    ...REAL.read,
    ...{ takenWithinMs: LONG, quickMs: LONG, quickActivityMs: 2 * LONG, patientMs: LONG, patientActivityMs: 2 * LONG },
    probeMs: LONG,
  },
  lookup: { ...REAL.lookup, localMs: LONG, describeWorkerLocalMs: LONG, regularMs: LONG },
  pace: { ...REAL.pace, defaultHoldMs: 300, leastPauseMs: 100, spreadMs: 200, countWorkersMs: SECOND },
  verdict: { ...REAL.verdict, minSettleMs: SECOND, coverageSlackMs: LONG },
  lock: { ...REAL.lock, lookAgainMs: 4 * SECOND },
  freeze: { ...REAL.freeze, spreadMs: SECOND },
  report: { ...REAL.report, lookMs: SECOND, lateLookMs: 2 * SECOND },
  worker: { ...REAL.worker, workflowTaskMs: 60 * SECOND, rolloutTaskMs: 60 * SECOND, visibleWithinMs: LONG },
  client: {
    ...REAL.client,
    ...{ connectMs: LONG, aliveMs: LONG, startMs: LONG, answerMs: LONG, queryMs: LONG, lastQueryMs: LONG },
    ...{
      listMs: LONG,
      scheduleMs: LONG,
      scheduleAnswerMs: LONG,
      outageMs: LONG,
      storeReadyMs: LONG,
      storeEventMs: LONG,
    },
  },
  webhooks: { ...REAL.webhooks, requestMs: 100 * SECOND, readyForMs: LONG },
} as unknown as typeof REAL;
