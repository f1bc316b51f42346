/** One server of a rollout: a run of its own, under an id made of the rollout's, so that it is begun once. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import type { RunInput, RunResult, RunType } from '../contract.ts';
import type { RolloutInput, TargetResult } from '../fleet-contract.ts';
import { runWorkflowId } from '../ids.ts';
import { launchOf } from '../launch.ts';
import { plainText } from '../text.ts';
import { endOf } from './children.ts';
import { defect, ended, type End } from './end.ts';
import type { Rollout } from './open-rollout.ts';

/** Resolves when the server's run has ended and is noted. Marks it as begun at once. */
export async function deployTarget(rollout: Rollout, target: TargetResult): Promise<void> {
  const { input, result } = rollout;
  target.startedAt = new Date().toISOString();
  const run = runInputOf(input, target, result.service);
  const type: RunType = run.siteIds.length === 0 ? 'backupOnly' : 'backupThenDeploy';
  target.workflowId = runWorkflowId(type, run, keyOf(input));
  rollout.refresh();
  const { end, result: known } = await ranTo(type, run, target.workflowId);
  // A defect leaves no outcome, and a server that has ended needs one.
  target.outcome = end.outcome ?? 'unknown';
  target.error = end.error === null ? null : { ...end.error, message: plainText(end.error.message) };
  target.endedAt = new Date().toISOString();
  target.backup = known?.backup?.outcome ?? null;
  for (const deployment of target.deployments) {
    const ended = known?.deployments.find(({ siteId }) => siteId === deployment.siteId);
    deployment.outcome ??= ended === undefined ? 'unknown' : ended.outcome;
  }
}

function runInputOf({ options, meta }: RolloutInput, target: TargetResult, service: string | null): RunInput {
  return {
    serverId: target.serverId,
    siteIds: target.deployments.filter(({ outcome }) => outcome === null).map(({ siteId }) => siteId),
    ...options,
    ...(service === null ? {} : { service }),
    ...(meta === undefined ? {} : { meta }),
  };
}

function keyOf({ name, key, attempt = 1 }: RolloutInput): string {
  return `${name}.${key}${attempt === 1 ? '' : `.${attempt}`}`;
}

async function ranTo(
  type: RunType,
  input: RunInput,
  workflowId: string,
): Promise<{ end: End; result: RunResult | null }> {
  try {
    const child = await startChild<(input: RunInput) => Promise<RunResult>>(type, {
      ...launchOf(input),
      workflowId,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [input],
    });
    return await endOf(child);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) return { end: defect(error), result: null };
    const message = `${workflowId} was begun before, by a reset rollout or by hand: look there for how it ends`;
    return { end: ended('unknown', 'OutcomeUnknown', message), result: null };
  }
}
