/** How long the sandbox's timers and requests live: until it is closed, and no process is kept alive by them. */

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Once it is over, what is awaited here never comes: nothing follows it any more. */
export interface Lifetime {
  /** Not a millisecond early, however far off. */
  until(dueMs: number): Promise<void>;
  /** The signal is aborted after so long, with an error that says so. */
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
