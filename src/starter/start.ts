/** Starting a run, once per key. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
} from '@temporalio/client';
import { WORKFLOW_TASK_TIMEOUT_MS, type RunInput, type RunMemo, type RunType } from '../contract.ts';
import { runWorkflowId } from '../ids.ts';
import { planOf, problemOfId, problemOfInput } from '../input.ts';
import { plainText } from '../text.ts';
import { asBelayError, BelayError } from './errors.ts';
import { createRun, type Run } from './run.ts';
import { emptyResult } from './result.ts';
import type { Session } from './session.ts';
import { workerSeen } from './workers.ts';

/** Together with connecting, less than the ten seconds after which nobody should still be in the dark. */
const START_TIMEOUT_MS = 5_000;

export interface StartOptions {
  /** Default: what the input names, a backup, deployments, or both. */
  type?: RunType;
  /** The same key is the same run: in flight it is attached to, closed it gives its stored result. */
  key?: string;
  /** With a key whose run closed and isn't `completed`: start anew. */
  again?: boolean;
}

export async function startRun(session: Session, input: RunInput, options: StartOptions): Promise<Run> {
  const type = options.type ?? typeOf(input);
  const key = options.key ?? randomUUID();
  const problem = keyProblem(options.key) ?? problemOfInput(type, input);
  if (problem !== null) throw new BelayError('Usage', problem);
  const workflowId = runWorkflowId(type, input, key);
  try {
    const handle = await session.client.withDeadline(Date.now() + START_TIMEOUT_MS, async () => {
      await refuseWithoutWorker(session);
      return start(session, { type, input, workflowId, again: options.again === true });
    });
    return createRun(session, { workflowId, runId: handle.firstExecutionRunId, attached: false });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError))
      throw asBelayError(error, `start ${workflowId}`, emptyResult({ workflowId }));
    return attach(session, workflowId, input);
  }
}

function typeOf({ serverId, siteIds }: RunInput): RunType {
  if (serverId === undefined) return 'deployOnly';
  return siteIds.length === 0 ? 'backupOnly' : 'backupThenDeploy';
}

function keyProblem(key: string | undefined): string | null {
  const problem = key === undefined ? null : problemOfId(key);
  return problem === null ? null : `key: ${problem}`;
}

async function refuseWithoutWorker({ client, namespace, taskQueue }: Session): Promise<void> {
  if (await workerSeen(client, namespace, taskQueue)) return;
  const remedy = 'start one with `belay worker`, or set BELAY_TASK_QUEUE to the queue it polls';
  throw new BelayError('NoWorker', `no worker polls the task queue "${taskQueue}": ${remedy}`);
}

/** Temporal decides in one step whether there is such a run already: two starts at once are one run. */
async function start(
  { client, taskQueue }: Session,
  { type, input, workflowId, again }: { type: RunType; input: RunInput; workflowId: string; again: boolean },
): Promise<WorkflowHandle & { firstExecutionRunId: string }> {
  const memo: RunMemo = { input };
  return client.workflow.start(type, {
    workflowId,
    taskQueue,
    args: [input],
    memo: { ...memo },
    staticSummary: summaryOf(input),
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: again ? 'ALLOW_DUPLICATE_FAILED_ONLY' : 'REJECT_DUPLICATE',
  });
}

async function attach(session: Session, workflowId: string, input: RunInput): Promise<Run> {
  const described = await session.client.workflow
    .getHandle(workflowId)
    .describe()
    .catch((error: unknown) => Promise.reject(asBelayError(error, `attach to ${workflowId}`)));
  if (!sameRequest(described, input)) {
    const remedy = 'use another key, or ask for the same again';
    throw new BelayError('KeyReused', `${workflowId} was started with other input: ${remedy}`);
  }
  return createRun(session, { workflowId, runId: described.runId, attached: true });
}

/** Whether the same is to be done. `meta` only says who asked: the next attempt of a CI job may carry another one. */
function sameRequest({ memo }: WorkflowExecutionDescription, input: RunInput): boolean {
  const before = (memo as Partial<RunMemo> | undefined)?.input;
  const request = ({ service, serverId, siteIds, ...rest }: RunInput) => [
    service,
    serverId,
    siteIds,
    planOf({ siteIds, ...rest }),
  ];
  return before !== undefined && isDeepStrictEqual(request(before), request(input));
}

function summaryOf({ serverId, siteIds }: RunInput): string {
  const backup = serverId === undefined ? [] : [`back up ${plainText(serverId, 30)}`];
  const [first, ...rest] = siteIds;
  const more = rest.length === 0 ? '' : ` and ${rest.length} more`;
  const deploy = first === undefined ? [] : [`deploy ${plainText(first, 30)}${more}`];
  const summary = [...backup, ...deploy].join(', then ');
  return summary.charAt(0).toUpperCase() + summary.slice(1);
}
