/** An exchange that takes its turn first. A trigger waits only while its permit lasts, a read only briefly. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HostingApiError } from './errors.ts';
import { exchange, type Answer, type Exchange, type HttpOptions } from './exchange.ts';
import type { Pacer } from './pacer.ts';

/** What passes while requests wait for their turn. */
export interface Passage {
  nowMs: () => number;
  /** Rejects if the signal is aborted. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<unknown>;
}

export interface PacedOptions extends HttpOptions {
  /** Default: every request is made at once. */
  pacer?: Pacer;
  /** Default: real time. */
  passage?: Passage;
}

const REAL: Passage = {
  nowMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

/** @throws HostingApiError; of kind `held_back` if nothing was sent because its turn is too far away */
export async function pacedExchange(
  { pacer, passage = REAL, ...options }: PacedOptions,
  call: Exchange,
): Promise<Answer> {
  if (pacer === undefined) return exchange(options, call);
  const begunMs = passage.nowMs();
  await takeTurn(pacer, passage, call);
  const timeoutMs = call.method === 'POST' ? call.timeoutMs : call.timeoutMs - (passage.nowMs() - begunMs);
  try {
    return await exchange(options, { ...call, timeoutMs: Math.max(1, Math.floor(timeoutMs)) });
  } catch (error) {
    if (error instanceof HostingApiError && error.asksForPause) pacer.hold(error.retryAfterMs);
    throw error;
  }
}

async function takeTurn(pacer: Pacer, passage: Passage, call: Exchange): Promise<void> {
  const request = `${call.method} ${call.path}`;
  const endsMs = passage.nowMs() + longestWaitMs(call);
  const heldBack = (retryAfterMs: number) => {
    const ofWorker =
      retryAfterMs > 0
        ? 'it waits for its turn, because of the ceiling of requests per second'
        : 'this worker was too busy to send it in time';
    const reason = `not sent: ${pacer.isHeld ? 'the service asked this worker to wait' : ofWorker}`;
    return new HostingApiError({ kind: 'held_back', request, reason, sent: false, retryAfterMs });
  };
  do {
    const turn = pacer.turn({ key: request, isTrigger: call.method === 'POST' }, endsMs - passage.nowMs());
    const waitMs = Math.ceil(turn.waitMs);
    if (!turn.granted) throw heldBack(waitMs);
    if (waitMs === 0) return;
    await passage.sleep(waitMs, call.signal).catch(() => {
      throw heldBack(0);
    });
    // Another request may have been answered meanwhile.
  } while (pacer.isHeld);
}

/** Leaves time to connect and to answer. A trigger without a permit does not wait. */
function longestWaitMs({ method, timeoutMs, permit }: Exchange): number {
  return method === 'POST' ? Math.max(0, (permit?.leftMs() ?? 0) / 2) : timeoutMs / 4;
}
