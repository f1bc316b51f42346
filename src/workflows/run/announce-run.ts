/** Announces a run that ended. */
import { workflowInfo } from '@temporalio/workflow';
import type { RunResult } from '../../contract/run.ts';
import { ROLLOUT_PREFIX, runEndId } from '../../contract/ids/workflow-ids.ts';
import { worstFirst } from '../../contract/results/tally.ts';
import { measuredHeartbeat } from './state/report-run.ts';
import type { RunState } from './state/run-state.ts';
import { announce, MAX_PARTS, pausedBy } from '../notify/send-notifications.ts';

export async function announceRun({ notify, result, input }: RunState): Promise<void> {
  const { workflowId, firstExecutionRunId, parent } = workflowInfo();
  // A rollout sends one notification for all its runs.
  if (parent?.workflowId.startsWith(ROLLOUT_PREFIX) === true) return;
  const { outcome, deployments } = result;
  const listed = worstFirst(deployments).slice(0, MAX_PARTS);
  const shortened: RunResult = { ...result, deployments: listed };
  const id = runEndId(workflowId, firstExecutionRunId);
  await announce({
    notify,
    outcome,
    notification: {
      kind: 'run',
      id,
      result: shortened,
      leftOut: deployments.length - listed.length,
      ...pausedBy(result),
    },
    heartbeat: measuredHeartbeat(input.heartbeat, notify) === null ? input.heartbeat : undefined,
    summary: `Notify that a run ended: ${outcome ?? 'Internal'}`,
  });
}
