/** Announces a rollout that ended or waits for a decision. */
import { workflowInfo } from '@temporalio/workflow';
import type { RolloutResult } from './shapes.ts';
import { rolloutPauseId, runEndId } from '../../contract/ids.ts';
import { worstFirst } from '../../contract/tally.ts';
import type { RolloutState } from './state.ts';
import { MAX_PARTS, announce, pausedBy } from '../notifications/workflow.ts';

/** @param pauses the number of pauses so far if this announces a pause, else null */
export async function announceRollout({ notify, result, input }: RolloutState, pauses: number | null): Promise<void> {
  const { workflowId, firstExecutionRunId } = workflowInfo();
  const { outcome, targets } = result;
  const listed = worstFirst(targets)
    .slice(0, MAX_PARTS)
    .map((target) => ({ ...target, deployments: [] }));
  const shortened: RolloutResult = { ...result, targets: listed, decisions: result.decisions.slice(-3) };
  const id =
    pauses === null
      ? runEndId(workflowId, firstExecutionRunId)
      : rolloutPauseId(workflowId, firstExecutionRunId, pauses);
  const leftOut = targets.length - listed.length;
  await announce({
    notify,
    outcome,
    notification: { kind: 'rollout', id, result: shortened, leftOut, ...(pauses === null ? pausedBy(result) : {}) },
    heartbeat: input.heartbeat,
    summary:
      pauses === null ? `Notify that a rollout ended: ${outcome ?? 'Internal'}` : 'Notify that a rollout is paused',
  });
}
