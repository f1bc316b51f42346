/** Virtual time: what is due next happens next, and then it is that time. */

export interface Clock {
  readonly nowMs: number;
  /** @returns what cancels it */
  at(ms: number, act: () => unknown): () => void;
  after(ms: number, act: () => unknown): () => void;
  /** Lets everything happen, until nothing is due, `endMs` is reached or `isOver`. */
  run(endMs: number, isOver: () => boolean): Promise<void>;
}

interface Due {
  ms: number;
  act: (() => unknown) | null;
}

/** @param settled resolves when everything that can go on without the clock has done so */
export function createClock(startMs: number, settled: () => Promise<void>): Clock {
  /** The next one is last. */
  const due: Due[] = [];
  let nowMs = startMs;

  /** Of those at the same time, the first to come happens first. */
  function insert(it: Due): void {
    let [from, to] = [0, due.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (due[middle]!.ms > it.ms) from = middle + 1;
      else to = middle;
    }
    due.splice(from, 0, it);
  }

  const at = (ms: number, act: () => unknown) => {
    if (!Number.isFinite(ms)) throw new RangeError(`${ms} is not a time`);
    const it: Due = { ms: Math.max(ms, nowMs), act };
    insert(it);
    return () => void (it.act = null);
  };

  return {
    get nowMs() {
      return nowMs;
    },
    at,
    after: (ms, act) => at(nowMs + ms, act),
    async run(endMs, isOver) {
      for (let next = due.at(-1); next !== undefined && next.ms <= endMs; next = due.at(-1)) {
        due.pop();
        if (next.act === null) continue;
        nowMs = next.ms;
        await next.act();
        await settled();
        if (isOver()) return;
      }
    },
  };
}
