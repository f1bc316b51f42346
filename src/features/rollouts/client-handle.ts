/** A handle to one rollout. */
import type { WorkflowHandle } from '@temporalio/client';
import type { ErrorType } from '../../contract/names.ts';
import type { DecisionInput, RolloutResult } from './shapes.ts';
import { emptyRollout } from '../../contract/results.ts';
import { shellWord } from '../../contract/safe-text.ts';
import { awaitResult, cancelOpen, soon, type WaitOptions } from '../../client/await-result.ts';
import { BelayError } from '../../contract/errors.ts';
import type { Session } from '../../client/session.ts';
import { linksOf, type Links } from '../../client/ui-link.ts';
import { sendDecision } from '../../client/send-decision.ts';
import { type RolloutStatus, describeRollout, rolloutStatus } from './rollout-status.ts';

/** @throws BelayError, from every call */
export interface Rollout {
  readonly workflowId: string;
  /** Null for the latest attempt. */
  readonly runId: string | null;
  /** Whether it had been started before. */
  readonly attached: boolean;
  /** Where people see it: `ui` is its page in the Temporal UI, or null if the address of the UI is not known. */
  readonly links: Links;
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
  /** Like `abort`, but without naming an author. False: it had ended, so there was nothing to cancel. */
  cancel(): Promise<boolean>;
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
    links: linksOf(session, ids),
    result: (options = {}) => waitForRollout(session, handle, options),
    status: () => soon(session, `read ${workflowId}`, () => rolloutStatus(session, handle)),
    pause: decide('pause'),
    resume: decide('resume'),
    abort: decide('abort'),
    cancel: () =>
      soon(session, `cancel ${workflowId}`, async () => {
        return cancelOpen(handle, await describeRollout(handle));
      }),
  };
}

function waitForRollout(session: Session, handle: WorkflowHandle, options: WaitOptions): Promise<RolloutResult> {
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
          `stopped waiting, the rollout continues; wait again with \`${resume}\``,
          await latest(),
        );
      },
      lost: (message) => error('TemporalUnreachable', message, emptyRollout({ workflowId: handle.workflowId })),
    },
    options,
  );
}
