/**
 * Spreads the requests of one worker: it sends none while the service asks for a pause, and no more than the worker's
 * share of the ceiling. Triggers go before waiting reads. A request whose turn is too far away must come again, and
 * keeps its place.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HostingApiError } from './errors.ts';
import { exchange, type Answer, type Exchange, type HttpOptions } from './exchange.ts';

export interface PaceLimits {
  /** The pause if the service names none. */
  defaultPauseMs: number;
  /** The longest pause, whatever the service asks for. */
  maxPauseMs: number;
  /** Reads that a pause held back come again spread over this time. */
  spreadMs: number;
}

interface PacedRequest {
  /** A request keeps its key when it comes again. */
  key: string;
  isTrigger: boolean;
}

interface Turn {
  waitMs: number;
  /** False if the request must come again after `waitMs`. */
  granted: boolean;
}

export interface Pacer {
  readonly isPaused: boolean;
  /** Sets the worker's share in requests per second. Null for no limit. */
  setShare(perSecond: number | null): void;
  /** @param retryAfterMs the pause that the service asks for; null if it names no time */
  pause(retryAfterMs: number | null): void;
  /** Grants a request its turn if that comes within `maxWaitMs`. */
  turn(request: PacedRequest, maxWaitMs: number): Turn;
}

/**
 * A request that has not come again this long after its turn gives up its place. A workflow with a long history comes again
 * only after its interval.
 */
const ABSENT_MS = 60 * 60_000;

export function createPacer(limits: PaceLimits, clockMs = () => performance.now(), random = Math.random): Pacer {
  const places = new Map<string, { atMs: number; isTrigger: boolean }>();
  let gapMs = 0;
  let pausedUntilMs = -Infinity;
  let lastMs = -Infinity;

  function turnOf({ key, isTrigger }: PacedRequest, nowMs: number): number {
    const openMs = Math.max(nowMs, pausedUntilMs, lastMs + gapMs);
    const own = places.get(key);
    // The baseline read before a trigger takes the turn that the trigger came for, so the trigger borrows the next one.
    if (isTrigger && own !== undefined && own.atMs <= nowMs) return Math.max(nowMs, pausedUntilMs);
    if (own !== undefined && own.atMs <= openMs) return openMs;
    const ahead = [...places.values()].filter(
      (it) => (it.isTrigger ? it.atMs > nowMs : !isTrigger) && (own === undefined || it.atMs < own.atMs),
    );
    return Math.max(openMs, ...ahead.map(({ atMs }) => atMs + gapMs));
  }

  return {
    get isPaused() {
      return clockMs() < pausedUntilMs;
    },
    setShare(perSecond) {
      gapMs = perSecond === null ? 0 : 1_000 / perSecond;
      if (perSecond === null) places.clear();
    },
    pause(retryAfterMs) {
      const pauseMs = Math.min(retryAfterMs ?? limits.defaultPauseMs, limits.maxPauseMs);
      pausedUntilMs = Math.max(pausedUntilMs, clockMs() + pauseMs);
    },
    turn(request, maxWaitMs) {
      const nowMs = clockMs();
      for (const [key, { atMs }] of places) if (atMs + ABSENT_MS < nowMs) places.delete(key);
      const atMs = turnOf(request, nowMs);
      const waitMs = atMs - nowMs;
      const granted = waitMs <= maxWaitMs;
      places.delete(request.key);
      if (granted) {
        lastMs = Math.max(atMs, lastMs + gapMs);
        return { waitMs, granted };
      }
      // With a ceiling, places keep the requests from coming again all at once.
      if (gapMs > 0) places.set(request.key, { atMs, isTrigger: request.isTrigger });
      const spreadMs = gapMs > 0 || request.isTrigger ? 0 : random() * limits.spreadMs;
      return { waitMs: waitMs + spreadMs, granted };
    },
  };
}

/* An exchange that first takes its turn. A trigger waits only while its permit lasts, and a read only briefly. */

/** Time, as tests replace it. */
export interface Passage {
  nowMs: () => number;
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

/** @throws HostingApiError; of kind `held_back` if nothing was sent because the turn is too far away */
export async function pacedExchange(
  { pacer, passage = REAL, ...options }: PacedOptions,
  call: Exchange,
): Promise<Answer> {
  if (pacer === undefined) return exchange(options, call);
  const beganMs = passage.nowMs();
  await takeTurn(pacer, passage, call);
  const timeoutMs = call.method === 'POST' ? call.timeoutMs : call.timeoutMs - (passage.nowMs() - beganMs);
  try {
    return await exchange(options, { ...call, timeoutMs: Math.max(1, Math.floor(timeoutMs)) });
  } catch (error) {
    if (error instanceof HostingApiError && error.asksForPause) pacer.pause(error.retryAfterMs);
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
    const rest = retryAfterMs > 0 ? `, for another ${Math.ceil(retryAfterMs / 1_000)} s` : '';
    const reason = `not sent: ${pacer.isPaused ? `the service asked this worker to wait${rest}` : ofWorker}`;
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
  } while (pacer.isPaused);
}

/** Leaves time to connect and to answer. A trigger without a permit does not wait. */
function longestWaitMs({ method, timeoutMs, permit }: Exchange): number {
  return method === 'POST' ? Math.max(0, (permit?.leftMs() ?? 0) / 2) : timeoutMs / 4;
}
