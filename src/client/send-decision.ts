/** Sends a person's decision about a run or rollout, and waits until a worker has taken it. */
import { WorkflowUpdateFailedError, type WorkflowExecutionDescription, type WorkflowHandle } from '@temporalio/client';
import { BelayError } from '../contract/errors.ts';
import { soon } from './await-result.ts';
import { isOutOfTime } from './transport/grpc-errors.ts';
import { requireWorkers } from './workers.ts';
import type { Session } from './session.ts';

export interface SentDecision {
  /** The name of the update, which also names the decision in messages. */
  name: string;
  handle: WorkflowHandle;
  payload: object;
  /** @throws BelayError `NotFound` if there is nothing to decide */
  describe: (handle: WorkflowHandle) => Promise<WorkflowExecutionDescription>;
  /** The command that shows whether a worker took the decision later. */
  lookAgain: string;
}

/** @throws BelayError `Usage` if the decision is refused, `NoWorker` if no worker took it */
export function sendDecision(session: Session, decision: SentDecision): Promise<void> {
  const { name, handle, payload, describe, lookAgain } = decision;
  const what = `${name} ${handle.workflowId}`;
  return soon(session, what, async () => {
    const { status } = await describe(handle);
    if (status.name !== 'RUNNING') throw new BelayError('Usage', `cannot ${what}: it has ended`);
    await requireWorkers(session);
    await handle.executeUpdate(name, { args: [payload] }).catch((error: unknown) => {
      throw decisionError(what, lookAgain, error);
    });
  });
}

function decisionError(what: string, lookAgain: string, error: unknown): unknown {
  if (error instanceof WorkflowUpdateFailedError)
    return new BelayError('Usage', `cannot ${what}: ${error.cause?.message ?? error.message}`);
  if (!isOutOfTime(error)) return error;
  const remedy = `one may still do so, check with \`${lookAgain}\``;
  return new BelayError('NoWorker', `no worker picked up the request to ${what} in time; ${remedy}`);
}
