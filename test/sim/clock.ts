/** Virtual time: what is due next happens next, and then it is that time. */

export interface Clock {
  readonly nowMs: number;
  /** @returns what cancels it */
  at(ms: number, act: () => unknown): () => void;
  after(ms: number, act: () => unknown): () => void;
  /** Lets everything happen, until nothing is due, `endMs` is reached, `isOver`, or time stands still. */
  run(endMs: number, isOver: () => boolean): Promise<void>;
}

export interface ClockOptions {
  /** Resolves when everything that can go on without the clock has done so. */
  settled: () => Promise<void>;
  /** So much happens at one moment that time does not pass: code asks for more and more without waiting. */
  onStandStill: () => void;
}

/** Far more than the busiest moment of a play needs. */
const MAX_AT_ONE_MOMENT = 100_000;

interface Due {
  ms: number;
  act: (() => unknown) | null;
}

export function createClock(startMs: number, { settled, onStandStill }: ClockOptions): Clock {
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
      let atThisMoment = 0;
      for (let next = due.at(-1); next !== undefined && next.ms <= endMs; next = due.at(-1)) {
        due.pop();
        if (next.act === null) continue;
        atThisMoment = next.ms > nowMs ? 1 : atThisMoment + 1;
        if (atThisMoment > MAX_AT_ONE_MOMENT) return onStandStill();
        nowMs = next.ms;
        await next.act();
        await settled();
        if (isOver()) return;
      }
    },
  };
}
