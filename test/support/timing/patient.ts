/**
 * For the tests that every machine has to pass: short waits, and guards that a machine ten times slower does not
 * notice. What a guard is for is tested in virtual time, and on the real server with the real budgets in
 * production-timings. What may be tried again is tried again after a minute: a server that is that slow loses tasks.
 */
import { TIMING as REAL } from '../../../src/contract/timing.ts';

const SECOND = 1_000;
/** Of a limit whose end changes a verdict. */
const LONG = 600 * SECOND;
/** Of an attempt that another one follows. */
const ATTEMPT = 60 * SECOND;

export const TIMING = {
  ...REAL,
  post: {
    ...REAL.post,
    ...{ takenWithinMs: LONG, permitMs: LONG, sentWithinMs: 3 * LONG, answerMs: LONG, activityMs: 3 * LONG },
    heartbeatTimeoutMs: ATTEMPT,
  },
  read: {
    ...REAL.read,
    ...{ takenWithinMs: ATTEMPT, answerMs: ATTEMPT, activityMs: ATTEMPT + SECOND, probeMs: ATTEMPT },
    heartbeatTimeoutMs: ATTEMPT,
  },
  lookup: { ...REAL.lookup, optionalMs: ATTEMPT, pollersMs: ATTEMPT, regularMs: ATTEMPT },
  pace: { ...REAL.pace, defaultPauseMs: 300, leastPauseMs: 100, spreadMs: 200, countWorkersMs: SECOND },
  verdict: { ...REAL.verdict, minSettleMs: SECOND, coverageSlackMs: LONG },
  lock: { ...REAL.lock, lookAgainMs: 4 * SECOND },
  freeze: { ...REAL.freeze, spreadMs: SECOND, confirmedWithinMs: LONG },
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
  advice: { ...REAL.advice, answerMs: LONG, besideMs: LONG },
  webhooks: { ...REAL.webhooks, requestMs: 100 * SECOND, readyForMs: LONG },
} as unknown as typeof REAL;
