/** Starting a run, once per key. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import type { RunInput, RunMemo, RunType } from '../../contract/run.ts';
import { runWorkflowId } from '../../contract/ids/workflow-ids.ts';
import { launchOf } from '../../request/start-options.ts';
import { planOf, problemOfId, problemOfInput } from '../../request/validate-run-input.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { asBelayError } from '../connection/to-belay-error.ts';
import { historyFacts } from './run-history.ts';
import { createRun, type Run } from './run-handle.ts';
import { emptyResult } from '../../contract/results/empty-results.ts';
import type { Session } from '../session.ts';
import { refuseWithoutWorker } from '../connection/pollers.ts';

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
    const again = options.again === true;
    const handle = await session.client.withDeadline(Date.now() + START_TIMEOUT_MS, async () => {
      await refuseWithoutWorker(session);
      if (again) await refuseOtherRequest(session, workflowId, input);
      return start(session, { type, input, workflowId, again });
    });
    return createRun(session, { workflowId, runId: handle.firstExecutionRunId, attached: false });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError))
      throw asBelayError(error, `start ${workflowId}`, emptyResult({ workflowId }));
    return attach(session, workflowId, input);
  }
}

/** Takes anything: what is wrong with it is told after. */
function typeOf(input: Partial<RunInput> | null | undefined): RunType {
  if (input?.serverId === undefined) return 'deployOnly';
  return input.siteIds?.length === 0 ? 'backupOnly' : 'backupThenDeploy';
}

function keyProblem(key: string | undefined): string | null {
  const problem = key === undefined ? null : problemOfId(key);
  return problem === null ? null : `key: ${problem}`;
}

/** Temporal decides in one step whether there is such a run already: two starts at once are one run. */
async function start(
  { client, taskQueue }: Session,
  { type, input, workflowId, again }: { type: RunType; input: RunInput; workflowId: string; again: boolean },
): Promise<WorkflowHandle & { firstExecutionRunId: string }> {
  return client.workflow.start(type, {
    ...launchOf(input),
    workflowId,
    taskQueue,
    args: [input],
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: again ? 'ALLOW_DUPLICATE_FAILED_ONLY' : 'REJECT_DUPLICATE',
  });
}

async function attach(session: Session, workflowId: string, input: RunInput): Promise<Run> {
  const runId = await refuseOtherRequest(session, workflowId, input).catch((error: unknown) =>
    Promise.reject(asBelayError(error, `attach to ${workflowId}`)),
  );
  return createRun(session, { workflowId, runId, attached: true });
}

/** @returns the run with this id, or null. @throws BelayError `KeyReused` where it was asked for something else */
async function refuseOtherRequest(session: Session, workflowId: string, input: RunInput): Promise<string | null> {
  const handle = session.client.workflow.getHandle(workflowId);
  const described = await handle.describe().catch((error: unknown) => {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  });
  if (described === null) return null;
  // Whoever started it in another language left no memo.
  const before = (described.memo as Partial<RunMemo> | undefined)?.input ?? (await historyFacts(handle)).input;
  if (before !== null && isDeepStrictEqual(requestOf(before), requestOf(input))) return described.runId;
  const remedy = 'use another key, or ask for the same again';
  throw new BelayError('KeyReused', `${workflowId} was started with other input: ${remedy}`);
}

/** What is to be done. `meta` only says who asked: the next attempt of a CI job may carry another one. */
function requestOf({ service, serverId, siteIds, heartbeat, ...rest }: RunInput) {
  return [service, serverId, siteIds, heartbeat, planOf({ siteIds, ...rest })];
}
