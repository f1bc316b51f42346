/** One run, seen from outside. */
import { setMaxListeners } from 'node:events';
import { isGrpcCancelledError, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import type { RunResult } from '../contract.ts';
import { shellWord } from '../text.ts';
import { withLink } from './link.ts';
import type { Session } from './session.ts';
import { asBelayError, BelayError, isUnreachable } from './errors.ts';
import { emptyResult } from '../result.ts';
import { failedResult } from './result.ts';
import { describeRun, knownOf, statusOf, whole, type RunStatus } from './status.ts';

/** A wait is asked for anew after this long, so that a connection that died in silence is noticed. */
const LONG_POLL_MS = 60_000;
const OUTAGE_PATIENCE_MS = 60_000;
const ANSWER_TIMEOUT_MS = 8_000;
const RECONNECT_PAUSE_MS = 1_000;
/** Whoever stopped waiting doesn't want to wait for long. */
const LAST_LOOK_MS = 1_500;

export interface WaitOptions {
  /** Ends the waiting, not the run. */
  signal?: AbortSignal;
}

/** @throws BelayError, from every call */
export interface Run {
  readonly workflowId: string;
  /** Null for the latest run with this id. */
  readonly runId: string | null;
  /** Whether the run was there before. */
  readonly attached: boolean;
  /** The result of a run that `completed`; any other outcome is thrown, with its result. */
  result(options?: WaitOptions): Promise<RunResult>;
  /** What is known now. */
  status(): Promise<RunStatus>;
  /** Asks the run to end; what has begun at the service goes on there. */
  cancel(): Promise<void>;
}

export function createRun(session: Session, ids: Pick<Run, 'workflowId' | 'runId' | 'attached'>): Run {
  const { workflowId, runId } = ids;
  const handle = session.client.workflow.getHandle(workflowId, runId ?? undefined);
  return {
    ...ids,
    result: (options = {}) => waitForResult(session, { handle, runId }, options.signal),
    status: () => soon(session, `read ${workflowId}`, () => statusOf(session, handle)),
    cancel: () =>
      soon(session, `cancel ${workflowId}`, async () => {
        await describeRun(handle);
        await handle.cancel();
      }),
  };
}

/** A question that Temporal answers at once, or not at all. */
async function soon<T>({ client }: Session, what: string, ask: () => Promise<T>): Promise<T> {
  return client.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, ask).catch((error: unknown) => {
    throw asBelayError(error, what);
  });
}

interface Awaited {
  handle: WorkflowHandle;
  runId: string | null;
}

async function waitForResult(session: Session, awaited: Awaited, signal?: AbortSignal): Promise<RunResult> {
  const { handle } = awaited;
  let lostSinceMs: number | null = null;
  for (;;) {
    const stopped = () => signal?.aborted === true;
    if (stopped()) throw await stoppedWaiting(session, awaited);
    try {
      return withLink(session, await poll(session, handle, signal));
    } catch (error) {
      if (error instanceof WorkflowFailedError) throw await runError(session, awaited, error);
      if (stopped()) throw await stoppedWaiting(session, awaited);
      // A connection that breaks may cancel its calls, too.
      if (!isUnreachable(error) && !isGrpcCancelledError(error))
        throw asBelayError(error, `wait for ${handle.workflowId}`);
      const nowMs = Date.now();
      lostSinceMs = (await answers(session)) ? null : (lostSinceMs ?? nowMs);
      if (lostSinceMs !== null && nowMs - lostSinceMs > OUTAGE_PATIENCE_MS) {
        const resume = `the run goes on; wait for it again with: belay wait ${shellWord(handle.workflowId)}`;
        const message = `Temporal has not answered for a minute: ${resume}`;
        throw new BelayError('TemporalUnreachable', message, withLink(session, idsOf(awaited)));
      }
      if (lostSinceMs !== null) await new Promise((resolve) => setTimeout(resolve, RECONNECT_PAUSE_MS));
    }
  }
}

async function poll({ client }: Session, handle: WorkflowHandle, signal?: AbortSignal): Promise<RunResult> {
  const result = () =>
    client.withDeadline(Date.now() + LONG_POLL_MS, async () => {
      await describeRun(handle);
      return (await handle.result()) as RunResult;
    });
  if (signal === undefined) return result();
  // The SDK takes none of its listeners off again: they go with a signal of this call, and are no leak.
  const ofThisCall = AbortSignal.any([signal]);
  setMaxListeners(0, ofThisCall);
  return client.withAbortSignal(ofThisCall, result);
}

/** Tells an outage from a long poll that came to its end. */
async function answers({ client }: Session): Promise<boolean> {
  return client
    .withDeadline(Date.now() + 5_000, () => client.workflowService.getSystemInfo({}))
    .then(() => true)
    .catch(() => false);
}

async function runError(session: Session, awaited: Awaited, error: WorkflowFailedError): Promise<BelayError> {
  const result = await soon(session, 'read the run', async () => {
    const described = await awaited.handle.describe();
    return whole(session, described, failedResult(error, knownOf(described)));
  }).catch(() => failedResult(error, idsOf(awaited)));
  const { type, message } = result.error ?? { type: 'Internal', message: 'the run failed without a reason' };
  return new BelayError(type, message, withLink(session, result));
}

/** With the latest that is known, for whoever decides what to do now. */
async function stoppedWaiting(session: Session, awaited: Awaited): Promise<BelayError> {
  const { handle } = awaited;
  const late = new Promise<null>((resolve) => setTimeout(resolve, LAST_LOOK_MS, null).unref());
  const status = await Promise.race([statusOf(session, handle).catch(() => null), late]);
  const known = status === null || status.contact === 'closed' ? withLink(session, idsOf(awaited)) : status.result;
  return new BelayError(
    'StoppedWaiting',
    `stopped waiting, the run goes on: belay wait ${shellWord(handle.workflowId)}`,
    known,
  );
}

function idsOf({ handle: { workflowId }, runId }: Awaited): RunResult {
  return emptyResult({ workflowId, runId });
}
