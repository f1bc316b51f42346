/** Waits for the result of a run or rollout, through outages of Temporal. */
import { setMaxListeners } from 'node:events';
import { WorkflowFailedError, type WorkflowExecutionDescription, type WorkflowHandle } from '@temporalio/client';
import { shellWord } from '../contract/safe-text.ts';
import { BelayError } from '../contract/errors.ts';
import type { ErrorType } from '../contract/names.ts';
import type { RunError } from '../contract/run.ts';
import { leniently } from '../encryption/payload-codec.ts';
import type { Contact } from './runs/run-contact.ts';
import { refuseUnknown } from './check-options.ts';
import type { Session } from './session.ts';
import { toBelayError } from './to-belay-error.ts';
import { isAnswering } from './transport/open-connection.ts';
import { isDenied, isLimited, isUnreachable } from './transport/grpc-errors.ts';
import { withLink, type Linked } from './ui-link.ts';
import { within } from './within.ts';
import { TIMING } from '../contract/timing.ts';

export interface WaitOptions {
  /** Stops waiting, without cancelling the run. */
  signal?: AbortSignal;
}

const WAIT_OPTIONS: Record<keyof WaitOptions, true> = { signal: true };

type Shown = Linked & { error: RunError | null; attached: boolean };

/** A run or rollout whose end is awaited. */
export interface Awaited<R> {
  what: 'run' | 'rollout';
  handle: WorkflowHandle;
  /** Its ids, and whether this call joined it. */
  ids: R;
  /** @throws BelayError if the id belongs to something else */
  describe: () => Promise<WorkflowExecutionDescription>;
  knownOf: (described: WorkflowExecutionDescription) => R;
  status: () => Promise<{ result: R; contact: Contact }>;
  /** Asks Temporal for what the failure does not tell. */
  readFailed: (failure: WorkflowFailedError) => Promise<R>;
  resultOf: (failure: WorkflowFailedError, known: R) => R;
  error: (type: ErrorType, message: string, result: R) => BelayError;
}

export async function awaitResult<R extends Shown>(
  session: Session,
  awaited: Awaited<R>,
  options: WaitOptions,
): Promise<R> {
  refuseUnknown('result', options, WAIT_OPTIONS);
  const { signal } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new BelayError('Usage', 'signal: is not an AbortSignal');
  const { ids, handle, describe, knownOf } = awaited;
  const { workflowId } = handle;
  /** What Temporal's record has shown, for results without an answer of the run itself. */
  let known = ids;
  let lostSinceMs: number | null = null;
  let wasAllowed = false;
  const look = async () => {
    known = knownOf(await describe());
    lostSinceMs = null;
    wasAllowed = true;
  };
  const shown = (result: R): R => withLink(session, { ...result, attached: ids.attached });
  const error: Awaited<R>['error'] = (type, message, result) => awaited.error(type, message, shown(result));
  const ended = { ...awaited, error };
  for (;;) {
    const isStopped = () => signal?.aborted === true;
    if (isStopped()) throw await stopped(ended, known);
    try {
      return shown(await poll<R>(session, handle, look, signal));
    } catch (cause) {
      if (cause instanceof WorkflowFailedError) throw await failed(session, ended, cause, known);
      if (isStopped()) throw await stopped(ended, known);
      // A repeated call carries the API key of its first attempt, which may have been replaced since.
      const isDeniedNow = wasAllowed && isDenied(cause);
      const isTemporary = isDeniedNow || isUnreachable(cause) || isLimited(cause);
      if (!isTemporary) throw toBelayError(cause, `wait for ${workflowId}`);
      // Someone may set the clock of the machine, and while it is suspended, it waits for no answer.
      const nowMs = performance.now();
      // If Temporal answers, a long poll timed out, and there is no outage.
      const isLost = isDeniedNow || !(await isAnswering(session.client.connection));
      lostSinceMs = isLost ? (lostSinceMs ?? nowMs) : null;
      if (lostSinceMs !== null && nowMs - lostSinceMs > TIMING.client.outageMs) {
        if (isDeniedNow) throw toBelayError(cause, `wait for ${workflowId}`);
        const resume = `nothing was cancelled, wait again with \`belay wait ${shellWord(workflowId)}\``;
        const message = `Temporal has not answered for a minute; ${resume}`;
        throw error('TemporalUnreachable', message, known);
      }
      if (lostSinceMs !== null) await new Promise((resolve) => setTimeout(resolve, TIMING.client.reconnectPauseMs));
    }
  }
}

/** The failure tells the outcome, and nothing that Temporal does not answer now may change that. */
async function failed<R extends Shown>(
  session: Session,
  { what, readFailed, resultOf, error }: Awaited<R>,
  failure: WorkflowFailedError,
  known: R,
): Promise<BelayError> {
  const read = soon(session, `read the ${what}`, () => readFailed(failure));
  const result = await read.catch(() => resultOf(failure, known));
  const { type, message } = result.error ?? { type: 'Internal', message: `the ${what} failed without a reason` };
  return error(type, message, result);
}

/** A caller that stops waiting gets no verdict, even if the run or rollout has ended meanwhile. */
async function stopped<R extends Shown>({ what, handle, status, error }: Awaited<R>, known: R): Promise<BelayError> {
  const last = await inTime(status());
  const continues = last !== null && last.contact !== 'closed';
  const again = `wait again with \`belay wait ${shellWord(handle.workflowId)}\``;
  const message = `stopped waiting${continues ? `, the ${what} continues` : ''}; ${again}`;
  return error('StoppedWaiting', message, continues ? last.result : known);
}

/** Use this for calls that Temporal answers at once or not at all. */
export const soon = <T>(session: Session, what: string, ask: () => Promise<T>): Promise<T> =>
  within(session, TIMING.client.answerMs, what, ask);

/** Returns the last status when waiting ends. Null if it does not come at once, because a person may wait for the end. */
function inTime<T>(status: Promise<T>): Promise<T | null> {
  const late = new Promise<null>((resolve) => setTimeout(resolve, TIMING.client.lastQueryMs, null).unref());
  return Promise.race([status.catch(() => null), late]);
}

/** @returns false if the workflow had already ended, so that nothing was cancelled */
export const cancelOpen = (
  session: Session,
  handle: WorkflowHandle,
  describe: (handle: WorkflowHandle) => Promise<WorkflowExecutionDescription>,
): Promise<boolean> =>
  soon(session, `cancel ${handle.workflowId}`, async () => {
    const { answer } = await leniently(() => describe(handle));
    if (answer.status.name !== 'RUNNING') return false;
    await handle.cancel();
    return true;
  });

async function poll<R>(
  { client }: Session,
  handle: WorkflowHandle,
  look: () => Promise<void>,
  signal?: AbortSignal,
): Promise<R> {
  const result = () =>
    client.withDeadline(Date.now() + TIMING.client.longPollMs, async () => {
      await look();
      return (await handle.result()) as R;
    });
  if (signal === undefined) return result();
  // The SDK never removes its listeners. They go away with the signal of this call, so their number is no leak.
  const ofThisCall = AbortSignal.any([signal]);
  setMaxListeners(0, ofThisCall);
  return client.withAbortSignal(ofThisCall, result);
}
