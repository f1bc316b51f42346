/** One server of a rollout: a run of its own, under an id made of the rollout's, so that it is begun once. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import type { RunInput, RunResult, RunType } from '../../contract/run.ts';
import type { RolloutInput, TargetResult } from '../../contract/rollout.ts';
import { runWorkflowId } from '../../contract/ids/workflow-ids.ts';
import { launchOf } from '../../request/start-options.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { endOf } from '../run/child-operations.ts';
import { defect, ended, type End } from '../common/conclusion.ts';
import type { Rollout } from './rollout-state.ts';

/** Resolves when the server's run has ended and is noted. Marks it as begun at once. */
export async function deployTarget(rollout: Rollout, target: TargetResult): Promise<void> {
  target.startedAt = new Date().toISOString();
  const { end, result } = await ranTo(rollout, target).catch((error: unknown) => ({
    end: defect(error),
    result: null,
  }));
  // A defect leaves no outcome, and a server that has ended needs one.
  target.outcome = end.outcome ?? 'unknown';
  target.error = end.error === null ? null : { ...end.error, message: plainText(end.error.message) };
  target.endedAt = new Date().toISOString();
  target.backup = result?.backup?.outcome ?? null;
  for (const deployment of target.deployments) {
    const ended = result?.deployments.find(({ siteId }) => siteId === deployment.siteId);
    deployment.outcome ??= ended === undefined ? 'unknown' : ended.outcome;
  }
}

async function ranTo(rollout: Rollout, target: TargetResult): Promise<{ end: End; result: RunResult | null }> {
  const { input, result } = rollout;
  const run = runInputOf(input, target, result.service);
  const type: RunType = run.siteIds.length === 0 ? 'backupOnly' : 'backupThenDeploy';
  const workflowId = runWorkflowId(type, run, keyOf(input));
  target.workflowId = workflowId;
  rollout.refresh();
  try {
    const child = await startChild<(input: RunInput) => Promise<RunResult>>(type, {
      ...launchOf(run),
      workflowId,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [run],
    });
    return await endOf(child);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const message = `${workflowId} was begun before, by a reset rollout or by hand: look there for how it ends`;
    return { end: ended('unknown', 'OutcomeUnknown', message), result: null };
  }
}

function runInputOf({ options, meta }: RolloutInput, target: TargetResult, service: string | null): RunInput {
  return {
    ...options,
    serverId: target.serverId,
    siteIds: target.deployments.filter(({ outcome }) => outcome === null).map(({ siteId }) => siteId),
    ...(service === null ? {} : { service }),
    ...(meta === undefined ? {} : { meta }),
  };
}

function keyOf({ name, key, attempt = 1 }: RolloutInput): string {
  // A key that looks as if it had one has one: two attempts never share an id.
  const isMarked = attempt > 1 || /~\d+$/.test(key);
  return `${name}.${key}${isMarked ? `~${attempt}` : ''}`;
}
