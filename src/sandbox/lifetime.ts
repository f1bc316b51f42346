/** Ends all timers and requests when the sandbox closes. They never keep a process alive. */

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** After `end`, promises from here never settle, so that no code runs after them. */
export interface Lifetime {
  /** Never resolves early, even beyond the longest timer of Node. */
  until(dueMs: number): Promise<void>;
  /** Aborts the signal after the limit, with an error that gives the limit. */
  within<T>(limitMs: number, act: (signal: AbortSignal) => Promise<T>): Promise<T>;
  end(): void;
}

export function createLifetime(): Lifetime {
  const stops = new Set<() => void>();
  let over = false;
  const never = new Promise<never>(() => undefined);

  const pause = (durationMs: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        stops.delete(stop);
        resolve();
      }, durationMs).unref();
      const stop = () => clearTimeout(timer);
      stops.add(stop);
    });

  return {
    async until(dueMs) {
      for (let leftMs = dueMs - Date.now(); leftMs > 0 && !over; leftMs = dueMs - Date.now()) {
        await pause(Math.min(leftMs, LONGEST_TIMER_MS));
      }
      if (over) await never;
    },
    async within(limitMs, act) {
      if (over) return never;
      const request = new AbortController();
      const timer = setTimeout(() => request.abort(new Error(`no answer in ${limitMs} ms`)), limitMs).unref();
      const stop = () => request.abort();
      stops.add(stop);
      try {
        return await act(request.signal);
      } finally {
        clearTimeout(timer);
        stops.delete(stop);
        if (over) await never;
      }
    },
    end() {
      over = true;
      for (const stop of stops) stop();
    },
  };
}
