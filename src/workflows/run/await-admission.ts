/** Waits until a worker lets the run begin, or until it is cancelled. */
import { workflowInfo } from '@temporalio/workflow';
import { waitForAdmission } from '../common/activity-proxies.ts';
import type { RunState } from './run-state.ts';

export async function awaitAdmission(run: RunState): Promise<void> {
  run.setPhase('admission');
  run.setWaiting({ kind: 'admission', since: new Date().toISOString() });
  // It protects the runs that have begun. No failure of it is a reason to give this one up.
  const turn = waitForAdmission(workflowInfo().taskQueue, 'more runs begin than the workers can carry at once');
  const admitted = turn.catch(() => undefined);
  await Promise.race([admitted, run.cancellation.whenRequested]);
  run.setWaiting(null);
  run.setPhase('checking');
}
