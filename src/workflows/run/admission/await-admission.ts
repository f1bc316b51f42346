/** Waits until a worker admits the run, for as long as it may take to begin. */
import { workflowInfo } from '@temporalio/workflow';
import { MORE_THAN_WORKERS_CARRY } from '../../../contract/wording/explain-wait.ts';
import { waitForAdmission } from '../../common/activity-proxies.ts';
import { noWorkerWithin } from '../../common/check-worker.ts';
import { conclude, type Conclusion } from '../../common/conclusion.ts';
import type { RunState } from '../state/run-state.ts';

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
