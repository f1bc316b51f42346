/** Waiting for the end of a run or rollout, through outages of Temporal. */
import { setMaxListeners } from 'node:events';
import { isGrpcCancelledError, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { shellWord } from '../../contract/wording/safe-text.ts';
import type { BelayError } from '../../contract/results/belay-error.ts';
import { asBelayError, isUnreachable } from './to-belay-error.ts';
import { withLink, type Linked } from './ui-link.ts';
import type { Session } from '../session.ts';

/** A wait is asked for anew after this long, so that a connection that died in silence is noticed. */
const LONG_POLL_MS = 60_000;
const OUTAGE_PATIENCE_MS = 60_000;
const ANSWER_TIMEOUT_MS = 8_000;
const RECONNECT_PAUSE_MS = 1_000;

export interface Awaited {
  handle: WorkflowHandle;
  /** @throws BelayError where the id is that of something else */
  check: () => Promise<unknown>;
  /** What is thrown where it did not complete. */
  failed: (error: WorkflowFailedError) => Promise<BelayError>;
  /** What is thrown where the waiting was ended. */
  stopped: () => Promise<BelayError>;
  /** What is thrown where Temporal stays away. */
  lost: (message: string) => BelayError;
}

export async function awaitResult<R extends Linked>(
  session: Session,
  awaited: Awaited,
  signal?: AbortSignal,
): Promise<R> {
  const { workflowId } = awaited.handle;
  let lostSinceMs: number | null = null;
  for (;;) {
    const stopped = () => signal?.aborted === true;
    if (stopped()) throw await awaited.stopped();
    try {
      return withLink(session, await poll<R>(session, awaited, signal));
    } catch (error) {
      if (error instanceof WorkflowFailedError) throw await awaited.failed(error);
      if (stopped()) throw await awaited.stopped();
      // A connection that breaks may cancel its calls, too.
      if (!isUnreachable(error) && !isGrpcCancelledError(error)) throw asBelayError(error, `wait for ${workflowId}`);
      const nowMs = Date.now();
      lostSinceMs = (await answers(session)) ? null : (lostSinceMs ?? nowMs);
      if (lostSinceMs !== null && nowMs - lostSinceMs > OUTAGE_PATIENCE_MS) {
        const resume = `it goes on; wait for it again with: belay wait ${shellWord(workflowId)}`;
        throw awaited.lost(`Temporal has not answered for a minute: ${resume}`);
      }
      if (lostSinceMs !== null) await new Promise((resolve) => setTimeout(resolve, RECONNECT_PAUSE_MS));
    }
  }
}

/** A question that Temporal answers at once, or not at all. */
export async function soon<T>({ client }: Session, what: string, ask: () => Promise<T>): Promise<T> {
  return client.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, ask).catch((error: unknown) => {
    throw asBelayError(error, what);
  });
}

async function poll<R>({ client }: Session, { handle, check }: Awaited, signal?: AbortSignal): Promise<R> {
  const result = () =>
    client.withDeadline(Date.now() + LONG_POLL_MS, async () => {
      await check();
      return (await handle.result()) as R;
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
