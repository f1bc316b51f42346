/** One server of a rollout: a run with an id made from the rollout's, so that it is started only once. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild, workflowInfo } from '@temporalio/workflow';
import type { RunInput, RunResult } from '../../contract/run.ts';
import type { RunType } from '../../contract/names.ts';
import type { RolloutInput, TargetResult } from './shapes.ts';
import { runWorkflowId } from '../../contract/ids.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { emptyResult } from '../../contract/results.ts';
import { isSameTarget, targetsInput, targetsOf } from '../../contract/target.ts';
import { runStartOptions } from '../../request/start-options.ts';
import { POOLED_ABOVE } from '../../request/limits.ts';
import { plainText } from '../../contract/safe-text.ts';
import { awaitChild } from '../../workflows/children.ts';
import { concludeInternal, conclude, end } from '../../workflows/conclusion.ts';
import { attributesOfRun } from '../../request/search-attributes.ts';
import { startAttributes, linkToThis } from '../../workflows/ui.ts';
import { approvedFor } from './held-servers.ts';
import { measureAnew, noteFirstPost } from '../gates/gating.ts';
import type { RolloutState } from './state.ts';

/** Marks the server as started at once. Resolves when its run has ended and is recorded. */
export async function deployTarget(rollout: RolloutState, target: TargetResult): Promise<void> {
  target.startedAt = new Date().toISOString();
  measureAnew(rollout, target.wave);
  const run = await runServer(rollout, target).catch((error: unknown) => ({
    ...emptyResult(),
    ...concludeInternal(error),
  }));
  const { outcome, error } = run;
  // A defect leaves no outcome, and a server that has ended needs one.
  end(target, {
    outcome: outcome ?? 'unknown',
    error: error === null ? null : { ...error, message: plainText(error.message) },
  });
  target.backup = run.backup?.outcome ?? null;
  const accepted = run.deployments.map(({ acceptedAt }) => acceptedAt);
  noteFirstPost(rollout, target.wave, accepted);
  for (const deployment of target.deployments) {
    const ended = run.deployments.find((it) => isSameTarget(it.target, deployment.target));
    deployment.outcome ??= ended === undefined ? 'unknown' : ended.outcome;
  }
}

async function runServer(rollout: RolloutState, target: TargetResult): Promise<RunResult> {
  const { input } = rollout;
  const run = runInputOf(rollout, target);
  const type: RunType = targetsOf(run).length === 0 ? 'backupOnly' : 'backupThenDeploy';
  const workflowId = runWorkflowId(type, run, keyOf(input));
  target.workflowId = workflowId;
  rollout.refresh();
  try {
    const child = await startChild<(input: RunInput) => Promise<RunResult>>(type, {
      ...runStartOptions(run, { type, startedBy: `the rollout ${linkToThis()}` }),
      ...startAttributes(rollout.searchAttributes, attributesOfRun(run)),
      workflowId,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [run],
    });
    return await awaitChild(child, emptyResult());
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const message = `${workflowId} was already started, by a reset rollout or by hand: look there for its outcome`;
    return { ...emptyResult(), ...conclude('unknown', 'OutcomeUnknown', message) };
  }
}

function runInputOf(rollout: RolloutState, target: TargetResult): RunInput {
  const { input, result, epoch } = rollout;
  const { options, maxAtOnce, deploysUntil, meta, override, noCheck } = input;
  const approved = approvedFor(rollout, target);
  const left = target.deployments.filter(({ outcome }) => outcome === null);
  return {
    ...(maxAtOnce > POOLED_ABOVE ? { waits: 'pooled' as const } : {}),
    ...options,
    serverId: target.serverId,
    fleet: input.fleet,
    ...targetsInput(left.map((it) => it.target)),
    ...(deploysUntil === undefined ? {} : { deploysUntil: { after: startedAt(), ...deploysUntil } }),
    ...definedFields({ service: result.service ?? undefined, epoch: epoch ?? undefined, override, noCheck }),
    ...(approved.length === 0 ? {} : { approved }),
    ...(meta === undefined ? {} : { meta }),
  };
}

const startedAt = () => workflowInfo().startTime.toISOString();

function keyOf({ name, key, attempt = 1 }: RolloutInput): string {
  // A key that already ends like a marked one is marked too, so that two attempts never share an id.
  const isMarked = attempt > 1 || /~\d+$/.test(key);
  return `${name}.${key}${isMarked ? `~${attempt}` : ''}`;
}
