/** Waits for the result of a run or rollout, through outages of Temporal. */
import { setMaxListeners } from 'node:events';
import { WorkflowFailedError, type WorkflowExecutionDescription, type WorkflowHandle } from '@temporalio/client';
import { shellWord } from '../contract/safe-text.ts';
import type { BelayError } from '../contract/errors.ts';
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

export interface Awaited {
  handle: WorkflowHandle;
  /** @throws BelayError if the id belongs to something else */
  check: () => Promise<unknown>;
  failed: (error: WorkflowFailedError) => Promise<BelayError>;
  stopped: () => Promise<BelayError>;
  lost: (message: string) => BelayError;
}

export async function awaitResult<R extends Linked>(
  session: Session,
  awaited: Awaited,
  options: WaitOptions,
): Promise<R> {
  refuseUnknown('result', options, WAIT_OPTIONS);
  const { signal } = options;
  const { workflowId } = awaited.handle;
  let lostSinceMs: number | null = null;
  let wasAllowed = false;
  const onAllowed = () => {
    lostSinceMs = null;
    wasAllowed = true;
  };
  for (;;) {
    const isStopped = () => signal?.aborted === true;
    if (isStopped()) throw await awaited.stopped();
    try {
      return withLink(session, await poll<R>(session, awaited, onAllowed, signal));
    } catch (error) {
      if (error instanceof WorkflowFailedError) throw await awaited.failed(error);
      if (isStopped()) throw await awaited.stopped();
      // A repeated call carries the API key of its first attempt, which may have been replaced since.
      const isDeniedNow = wasAllowed && isDenied(error);
      const isTemporary = isDeniedNow || isUnreachable(error) || isLimited(error);
      if (!isTemporary) throw toBelayError(error, `wait for ${workflowId}`);
      // Someone may set the clock of the machine, and while it is suspended, it waits for no answer.
      const nowMs = performance.now();
      // If Temporal answers, a long poll timed out, and there is no outage.
      const isLost = isDeniedNow || !(await isAnswering(session.client.connection));
      lostSinceMs = isLost ? (lostSinceMs ?? nowMs) : null;
      if (lostSinceMs !== null && nowMs - lostSinceMs > TIMING.client.outageMs) {
        if (isDeniedNow) throw toBelayError(error, `wait for ${workflowId}`);
        const resume = `nothing was cancelled, wait again with \`belay wait ${shellWord(workflowId)}\``;
        throw awaited.lost(`Temporal has not answered for a minute; ${resume}`);
      }
      if (lostSinceMs !== null) await new Promise((resolve) => setTimeout(resolve, TIMING.client.reconnectPauseMs));
    }
  }
}

/** @param last the last status; null if Temporal did not tell it in time, so that nothing says whether it continues */
export function stoppedText(what: 'run' | 'rollout', workflowId: string, last: { contact: Contact } | null): string {
  const continues = last === null || last.contact === 'closed' ? '' : `, the ${what} continues`;
  return `stopped waiting${continues}; wait again with \`belay wait ${shellWord(workflowId)}\``;
}

/** Use this for calls that Temporal answers at once or not at all. */
export const soon = <T>(session: Session, what: string, ask: () => Promise<T>): Promise<T> =>
  within(session, TIMING.client.answerMs, what, ask);

/** Returns the last status when waiting ends. Null if it does not come at once, because a person may wait for the end. */
export function inTime<T>(status: Promise<T>): Promise<T | null> {
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
  { handle, check }: Awaited,
  onAllowed: () => void,
  signal?: AbortSignal,
): Promise<R> {
  const result = () =>
    client.withDeadline(Date.now() + TIMING.client.longPollMs, async () => {
      await check();
      onAllowed();
      return (await handle.result()) as R;
    });
  if (signal === undefined) return result();
  // The SDK never removes its listeners. They go away with the signal of this call, so their number is no leak.
  const ofThisCall = AbortSignal.any([signal]);
  setMaxListeners(0, ofThisCall);
  return client.withAbortSignal(ofThisCall, result);
}
