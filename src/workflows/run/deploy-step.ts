/** The deployments of a run, one after another. The first that isn't completed stops them, unless told to keep going. */
import { deploySiteId } from '../../contract/ids/workflow-ids.ts';
import { startDeployment } from './child-operations.ts';
import { newDeploymentResult } from '../operation/deployment-context.ts';
import { ended, type End } from '../common/conclusion.ts';
import { sharedInput } from './backup-step.ts';
import type { Run } from './run-state.ts';

export async function deployAll(run: Run): Promise<End[]> {
  const ends: End[] = [];
  for (const [index, siteId] of run.input.siteIds.entries()) {
    const end = await deploy(run, siteId, index);
    ends.push(end);
    if (run.cancellation.requested || (end.outcome !== 'completed' && !run.plan.keepGoing)) break;
  }
  return ends;
}

async function deploy(run: Run, siteId: string, index: number): Promise<End> {
  const lockId = deploySiteId(siteId);
  const input = { ...sharedInput(run, `deploy:${encodeURIComponent(siteId)}`), siteId, ...run.plan.deploy };
  run.enter('deploy');
  const turn = await run.takeLock({
    lockId,
    start: (waiters) => startDeployment(run, lockId, { ...input, waiters }),
    ifBusy: run.plan.ifBusy,
    busyTimeoutMs: run.plan.busyTimeoutMs,
    accept: () => false,
    onQueued(since) {
      if (run.result.phase !== 'queued') run.enter('queued');
      run.showLock(lockId, since);
    },
  });
  if (turn.got !== 'lock') {
    const end =
      turn.got === 'cancelled'
        ? ended('not_started', 'Cancelled', `cancelled before site ${siteId} was deployed`)
        : ended('not_started', 'Busy', `site ${siteId} was not deployed: another run holds ${lockId}`);
    run.result.deployments[index] = { ...newDeploymentResult(siteId), outcome: 'not_started', error: end.error };
    return end;
  }
  if (run.result.phase === 'queued') run.enter('deploy');
  const { end, result } = await turn.child.end();
  run.showOperation(null);
  run.result.deployments[index] = result ?? { ...newDeploymentResult(siteId), ...end };
  return end;
}
