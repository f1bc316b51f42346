/** One rollout, seen from outside. */
import {
  isGrpcDeadlineError,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ErrorType, RunError } from '../../contract/run.ts';
import {
  ROLLOUT_TYPE,
  type DecisionInput,
  type RolloutMemo,
  type RolloutProgress,
  type RolloutResult,
  type RolloutWaiting,
  type TargetResult,
} from '../../contract/rollout.ts';
import { emptyRollout } from '../../contract/results/empty-results.ts';
import { sumsOf } from '../../contract/results/tally.ts';
import { shellWord } from '../../contract/wording/safe-text.ts';
import { someAtOnce } from '../connection/at-once.ts';
import { awaitResult, soon } from '../connection/await-result.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { withLink } from '../connection/ui-link.ts';
import type { WaitOptions } from '../runs/run-handle.ts';
import type { Session } from '../session.ts';
import { askProgress, silence, type Contact } from '../runs/run-status.ts';
import { lookUp } from './look-up-server-run.ts';
import { refuseWithoutWorker } from '../connection/pollers.ts';

export interface RolloutStatus {
  /** In flight `outcome` is null, and `phase` tells where it is. */
  result: RolloutResult;
  waiting: RolloutWaiting | null;
  contact: Contact;
}

/** @throws BelayError, from every call */
export interface Rollout {
  readonly workflowId: string;
  /** Null for the latest attempt. */
  readonly runId: string | null;
  /** Whether it was there before. */
  readonly attached: boolean;
  /** The result of one that `completed`; any other outcome is thrown, with its result as `rollout`. */
  result(options?: WaitOptions): Promise<RolloutResult>;
  /** What is known now. */
  status(): Promise<RolloutStatus>;
  /** What runs goes on, nothing begins until it is resumed. */
  pause(decision: DecisionInput): Promise<void>;
  /** Begins with servers again; with `serverId`, with that held server. */
  resume(decision: DecisionInput): Promise<void>;
  /** What runs may end, nothing begins any more. */
  abort(decision: DecisionInput): Promise<void>;
  /** As `abort`, by nobody in particular. */
  cancel(): Promise<void>;
}

export function createRollout(session: Session, ids: Pick<Rollout, 'workflowId' | 'runId' | 'attached'>): Rollout {
  const { workflowId, runId } = ids;
  const handle = session.client.workflow.getHandle(workflowId, runId ?? undefined);
  const decide = (what: 'pause' | 'resume' | 'abort') => (decision: DecisionInput) =>
    soon(session, `${what} ${workflowId}`, async () => {
      const { status } = await describeRollout(handle);
      if (status.name !== 'RUNNING') throw new BelayError('Usage', `cannot ${what} ${workflowId}: it has ended`);
      await refuseWithoutWorker(session);
      await handle.executeUpdate(what, { args: [decision] }).catch((error: unknown) => {
        throw decisionError(`${what} ${workflowId}`, error);
      });
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

/** @throws BelayError `NotFound` where the id is that of something else */
export async function describeRollout(handle: WorkflowHandle): Promise<WorkflowExecutionDescription> {
  const described = await handle.describe();
  if (described.type === ROLLOUT_TYPE) return described;
  const remedy = 'give its id, as `belay rollout list` shows it';
  throw new BelayError('NotFound', `${handle.workflowId} is no rollout but a ${described.type}: ${remedy}`);
}

export async function rolloutStatus(session: Session, handle: WorkflowHandle): Promise<RolloutStatus> {
  const described = await describeRollout(handle);
  const { workflowId, runId } = described;
  const known = knownRollout(described);
  if (described.status.name !== 'RUNNING') {
    const result = await closedRollout(session, described, known);
    return { result: withLink(session, result), waiting: null, contact: 'closed' };
  }
  const progress = await askProgress<RolloutProgress>(session, workflowId, runId);
  if (progress === null) {
    return { result: withLink(session, known), waiting: null, contact: await silence(session, described) };
  }
  return { result: withLink(session, progress.result), waiting: progress.waiting, contact: 'answers' };
}

/** What Temporal itself keeps of it. */
function knownRollout({ workflowId, runId, memo, startTime, closeTime }: WorkflowExecutionDescription): RolloutResult {
  const { name = null, fleet = null, attempt = 1 } = (memo ?? {}) as Partial<RolloutMemo>;
  return emptyRollout({
    workflowId,
    runId,
    name,
    fleet,
    attempt,
    startedAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
  });
}

async function closedRollout(
  session: Session,
  { workflowId, runId }: WorkflowExecutionDescription,
  known: RolloutResult,
): Promise<RolloutResult> {
  try {
    return (await session.client.workflow.getHandle(workflowId, runId).result()) as RolloutResult;
  } catch (failure) {
    if (!(failure instanceof WorkflowFailedError)) throw failure;
    const { cause } = failure;
    if (cause instanceof ApplicationFailure) {
      const result = cause.details?.[0] as RolloutResult | undefined;
      return result ?? { ...known, error: { type: cause.type as ErrorType, message: cause.message } };
    }
    // Terminated, it left nothing; a worker that still has its history knows how far it was.
    const last = (await askProgress<RolloutProgress>(session, workflowId, runId))?.result ?? known;
    const found = await someAtOnce(last.targets, (target) => lookUp(session, target));
    const goOn = found.filter(({ goesOn }) => goesOn).map(({ target }) => target.workflowId);
    const runs =
      goOn.length === 0 ? '' : `; ${goOn.slice(0, 3).join(', ')}${goOn.length > 3 ? ' and others' : ''} go on`;
    const error: RunError = {
      type: 'Terminated',
      message: `it was ended from outside: ${cause?.message ?? failure.message}${runs}`,
    };
    const targets = found.map(({ target }) => leftBehind(target));
    return { ...last, ...sumsOf(targets), targets, outcome: 'unknown', phase: 'done', error };
  }
}

/** Of a rollout that was terminated: what still runs goes on, and what had not begun never will. */
function leftBehind(target: TargetResult): TargetResult {
  if (target.outcome !== null) return target;
  const outcome = target.startedAt === null ? 'not_started' : 'unknown';
  const deployments = target.deployments.map((it) => ({ ...it, outcome: it.outcome ?? outcome }));
  return { ...target, outcome, deployments };
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
        const { type, message } = rollout.error ?? { type: 'Internal', message: 'it failed without a reason' };
        return error(type, message, rollout);
      },
      async stopped() {
        const resume = `belay wait ${shellWord(handle.workflowId)}`;
        return error('StoppedWaiting', `stopped waiting, the rollout goes on: ${resume}`, await latest());
      },
      lost: (message) => error('TemporalUnreachable', message, emptyRollout({ workflowId: handle.workflowId })),
    },
    signal,
  );
}

function decisionError(what: string, error: unknown): unknown {
  if (error instanceof WorkflowUpdateFailedError) {
    return new BelayError('Usage', `cannot ${what}: ${error.cause?.message ?? error.message}`);
  }
  if (isGrpcDeadlineError(error)) {
    const remedy = 'it may still do so; `belay rollout status` tells';
    return new BelayError('NoWorker', `nobody took it up in time to ${what}: ${remedy}`);
  }
  return error;
}
