/** A handle to one run. */
import type { WorkflowHandle } from '@temporalio/client';
import { BelayError } from '../../contract/errors.ts';
import { emptyResult } from '../../contract/results.ts';
import type { RunResult } from '../../contract/run.ts';
import { awaitResult, cancelOpen, soon, type WaitOptions } from '../await-result.ts';
import type { Session } from '../session.ts';
import { linksOf, type Links } from '../ui-link.ts';
import { followProgress } from './run-progress.ts';
import { failedResult, knownOf } from './run-result.ts';
import { completedByHistory, describeRun, statusOf, type RunStatus } from './run-status.ts';

/** Every method throws a BelayError if it fails. */
export interface Run {
  /** The id of the run, for `get`, and for `belay wait`, `status` and `cancel`. */
  readonly workflowId: string;
  /** Null for the latest run with this id. */
  readonly runId: string | null;
  /** True if this call joined a run that had been started before. */
  readonly attached: boolean;
  /** Where people see the run. `ui` is its page in the Temporal UI, or null if the address of the UI is not known. */
  readonly links: Links;
  /** Waits for the result. Throws unless the outcome is `completed`; the error carries the result. */
  result(options?: WaitOptions): Promise<RunResult>;
  /**
   * Returns the current status: the run's own answer, or what Temporal's records show if it does not answer within three
   * seconds. Does not throw for a run that failed.
   */
  status(): Promise<RunStatus>;
  /**
   * Returns the status for a display that follows the run, at most ten seconds old. It comes from Temporal's records,
   * so it asks no worker while an operation of the run waits for its next read. It lacks what that operation reports
   * about itself.
   */
  progress(): Promise<RunStatus>;
  /**
   * Cancels the run. An operation that has begun continues at the service. Resolves at once; the run ends when a worker
   * takes the request up. Returns false if the run had already ended.
   */
  cancel(): Promise<boolean>;
}

export function createRun(session: Session, ids: Pick<Run, 'workflowId' | 'runId' | 'attached'>): Run {
  const { workflowId, runId } = ids;
  const handle = session.client.workflow.getHandle(workflowId, runId ?? undefined);
  const progress = followProgress(session, handle);
  return {
    ...ids,
    links: linksOf(session, ids),
    result: (options = {}) => waitForRun(session, handle, emptyResult(ids), options),
    status: () => soon(session, `read ${workflowId}`, () => currentStatus(session, handle)),
    progress: () => soon(session, `read ${workflowId}`, progress),
    cancel: () => cancelOpen(session, handle, describeRun),
  };
}

async function currentStatus(session: Session, handle: WorkflowHandle): Promise<RunStatus> {
  return statusOf(session, await describeRun(handle));
}

function waitForRun(
  session: Session,
  handle: WorkflowHandle,
  ids: RunResult,
  options: WaitOptions,
): Promise<RunResult> {
  return awaitResult<RunResult>(
    session,
    {
      what: 'run',
      handle,
      ids,
      describe: () => describeRun(handle),
      knownOf,
      status: () => currentStatus(session, handle),
      async readFailed(failure) {
        const described = await handle.describe();
        return completedByHistory(session, described, failedResult(failure, knownOf(described)));
      },
      resultOf: failedResult,
      error: (type, message, result) => new BelayError(type, message, result),
    },
    options,
  );
}
