/** A handle to one rollout. */
import type { WorkflowHandle } from '@temporalio/client';
import type { ErrorType } from '../../contract/names.ts';
import type { DecisionInput, RolloutResult } from '../../contract/rollout.ts';
import { emptyRollout } from '../../contract/results/empty-results.ts';
import { shellWord } from '../../contract/wording/safe-text.ts';
import { awaitResult, soon } from '../connection/await-result.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import type { WaitOptions } from '../runs/run-handle.ts';
import type { Session } from '../connection/session.ts';
import { sendDecision } from '../connection/send-decision.ts';
import { type RolloutStatus, describeRollout, rolloutStatus } from './rollout-status.ts';

/** @throws BelayError, from every call */
export interface Rollout {
  readonly workflowId: string;
  /** Null for the latest attempt. */
  readonly runId: string | null;
  /** Whether it had been started before. */
  readonly attached: boolean;
  /** Waits for the result. Throws unless the outcome is `completed`; the error carries the result as `rollout`. */
  result(options?: WaitOptions): Promise<RolloutResult>;
  /** The current status. */
  status(): Promise<RolloutStatus>;
  /** Starts no more servers until resumed. Running ones continue. */
  pause(decision: DecisionInput): Promise<void>;
  /** Starts servers again. With `serverId`, releases that held server. */
  resume(decision: DecisionInput): Promise<void>;
  /** Starts no more servers. Running ones finish. */
  abort(decision: DecisionInput): Promise<void>;
  /** Like `abort`, but without naming an author. */
  cancel(): Promise<void>;
}

export function createRollout(session: Session, ids: Pick<Rollout, 'workflowId' | 'runId' | 'attached'>): Rollout {
  const { workflowId, runId } = ids;
  const handle = session.client.workflow.getHandle(workflowId, runId ?? undefined);
  const decide = (name: 'pause' | 'resume' | 'abort') => (payload: DecisionInput) =>
    sendDecision(session, {
      ...{ name, handle, payload, lookAgain: 'belay rollout status' },
      async check() {
        const { status } = await describeRollout(handle);
        if (status.name !== 'RUNNING') throw new BelayError('Usage', `cannot ${name} ${workflowId}: it has ended`);
      },
    });
  return {
    ...ids,
    result: (options = {}) => waitForRollout(session, handle, options.signal),
    status: () => soon(session, `read ${workflowId}`, () => rolloutStatus(session, handle)),
    pause: decide('pause'),
    resume: decide('resume'),
    abort: decide('abort'),
    cancel: () =>
      soon(session, `cancel ${workflowId}`, async () => {
        await describeRollout(handle);
        await handle.cancel();
      }),
  };
}

function waitForRollout(session: Session, handle: WorkflowHandle, signal?: AbortSignal): Promise<RolloutResult> {
  const latest = () =>
    rolloutStatus(session, handle).then(
      ({ result }) => result,
      () => emptyRollout({ workflowId: handle.workflowId }),
    );
  const error = (type: ErrorType, message: string, rollout: RolloutResult) =>
    new BelayError(type, message, null, { rollout });
  return awaitResult<RolloutResult>(
    session,
    {
      handle,
      check: () => describeRollout(handle),
      async failed() {
        const rollout = await latest();
        const { type, message } = rollout.error ?? { type: 'Internal', message: 'the rollout failed without a reason' };
        return error(type, message, rollout);
      },
      async stopped() {
        const resume = `belay wait ${shellWord(handle.workflowId)}`;
        return error(
          'StoppedWaiting',
          `stopped waiting, the rollout continues; wait again with: ${resume}`,
          await latest(),
        );
      },
      lost: (message) => error('TemporalUnreachable', message, emptyRollout({ workflowId: handle.workflowId })),
    },
    signal,
  );
}
