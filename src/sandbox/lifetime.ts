/** Ends all timers and requests when the sandbox closes. They never keep a process alive. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export type Lifetime = ReturnType<typeof createLifetime>;

/** After `end`, promises from here never settle, so that no code runs after them. */
export function createLifetime() {
  const over = new AbortController();
  const { signal } = over;
  // Every operation in progress listens to it.
  setMaxListeners(0, signal);
  const never = new Promise<never>(() => undefined);

  return {
    /** Never resolves early, even beyond the longest timer of Node. */
    async until(dueMs: number): Promise<void> {
      for (let leftMs = dueMs - Date.now(); leftMs > 0 && !signal.aborted; leftMs = dueMs - Date.now()) {
        await sleep(Math.min(leftMs, LONGEST_TIMER_MS), undefined, { signal, ref: false }).catch(() => never);
      }
      if (signal.aborted) await never;
    },
    /** Aborts the signal after the limit, with an error that gives the limit. */
    async within<T>(limitMs: number, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
      if (signal.aborted) return never;
      const request = new AbortController();
      const timer = setTimeout(() => request.abort(new Error(`no answer in ${limitMs} ms`)), limitMs).unref();
      try {
        return await act(AbortSignal.any([request.signal, signal]));
      } finally {
        clearTimeout(timer);
        if (signal.aborted) await never;
      }
    },
    end: () => over.abort(),
  };
}
