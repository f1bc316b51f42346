/** What is told of a run that ended, and of a rollout that ended or waits for a decision. */
import { workflowInfo } from '@temporalio/workflow';
import type { RunResult } from '../../contract/run.ts';
import type { RolloutResult } from '../../contract/rollout.ts';
import { ROLLOUT_PREFIX, rolloutPauseId, runEndId } from '../../contract/ids/workflow-ids.ts';
import { worstFirst } from '../../contract/results/tally.ts';
import type { Rollout } from './rollout-state.ts';
import type { Run } from '../run/run-state.ts';
import { announce } from '../notify/send-notifications.ts';

/** A message of a chat has limits: so many parts, first those that are not completed. */
const MAX_PARTS_TOLD = 50;

export async function announceRun({ notify, result, input }: Run): Promise<void> {
  const { workflowId, firstExecutionRunId, parent } = workflowInfo();
  // A rollout is told of as a whole.
  if (parent?.workflowId.startsWith(ROLLOUT_PREFIX) === true) return;
  const { outcome, deployments } = result;
  const told = worstFirst(deployments).slice(0, MAX_PARTS_TOLD);
  const shortened: RunResult = { ...result, deployments: told };
  const id = runEndId(workflowId, firstExecutionRunId);
  await announce({
    notify,
    outcome,
    notification: { about: 'run', id, result: shortened, leftOut: deployments.length - told.length },
    heartbeat: input.heartbeat,
    summary: `Tell how a run ended: ${outcome ?? 'Internal'}`,
  });
}

/** @param pauses so many times it has been paused, where that is what is told */
export async function announceRollout({ notify, result, input }: Rollout, pauses: number | null): Promise<void> {
  const { workflowId, firstExecutionRunId } = workflowInfo();
  const { outcome, targets } = result;
  const told = worstFirst(targets)
    .slice(0, MAX_PARTS_TOLD)
    .map((target) => ({ ...target, deployments: [] }));
  const shortened: RolloutResult = { ...result, targets: told, decisions: result.decisions.slice(-3) };
  const id =
    pauses === null
      ? runEndId(workflowId, firstExecutionRunId)
      : rolloutPauseId(workflowId, firstExecutionRunId, pauses);
  await announce({
    notify,
    outcome,
    notification: { about: 'rollout', id, result: shortened, leftOut: targets.length - told.length },
    heartbeat: input.heartbeat,
    summary: pauses === null ? `Tell how a rollout ended: ${outcome ?? 'Internal'}` : 'Tell that a rollout is paused',
  });
}
