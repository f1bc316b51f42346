/** Waits until a worker admits the run, for as long as it may take to begin. */
import { workflowInfo } from '@temporalio/workflow';
import { MORE_THAN_WORKERS_CARRY } from '../../contract/explain-wait.ts';
import { describeWorker, waitForAdmission } from '../activity-proxies.ts';
import { noWorkerWithin } from '../check-worker.ts';
import { conclude, type Conclusion } from '../conclusion.ts';
import type { Hold, Part } from './hooks.ts';
import type { RunState } from './run-state.ts';

const LEAST_MS = 1_000;

/** @param beganMs from when its time counts @returns null once it is admitted */
export async function awaitAdmission(run: RunState, beganMs = run.limits.startedMs): Promise<Conclusion | null> {
  const { cancellation, plan, result } = run;
  const phase = result.phase ?? 'checking';
  run.setPhase('admission');
  run.setWaiting({ kind: 'admission', since: new Date().toISOString() });
  const leftMs = Math.max(LEAST_MS, beganMs + plan.startWithinMs - Date.now());
  const turn = waitForAdmission(workflowInfo().taskQueue, leftMs, MORE_THAN_WORKERS_CARRY);
  const isAdmitted = await Promise.race([
    turn.then(
      () => true,
      () => false,
    ),
    cancellation.whenRequested.then(() => false),
  ]);
  run.setWaiting(null);
  if (cancellation.requested) return conclude('not_started', 'Cancelled', 'cancelled before it was admitted');
  if (!isAdmitted) return noWorkerWithin(plan.startWithinMs, 'admitted');
  run.setPhase(phase);
  return null;
}

/** After a wait: many that waited for the same thing begin within a minute. */
export async function takePlace(run: RunState): Promise<Conclusion | null> {
  const { admitted } = await describeWorker({ begins: true });
  return admitted === false ? awaitAdmission(run, Date.now()) : null;
}

/** The hold that ended a part before its request left, and lets it begin later; or undefined. */
export const holdThatReopens = ({ holds }: RunState, end: Conclusion): Hold | undefined =>
  holds.find((it) => it.reopens?.(end) === true);

/** @returns null once the part may begin, else why it does not */
export const waitFor = async (run: RunState, hold: Hold, part: Part): Promise<Conclusion | null> =>
  (await hold.wait?.(part)) ?? takePlace(run);
