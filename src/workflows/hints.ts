/** Hints: somebody says that there is something to read. A flood of them costs a bounded number of reads. */
import { defineSignal, setHandler } from '@temporalio/workflow';
import { SIGNALS } from '../contract.ts';

const MIN_GAP_MS = 1_000;
/** Two thousand tries, and so many more, of a slow service stay inside Temporal's limit of 51,200 events. */
const MAX_HINTED_READS = 1_000;

export const hintSignal = defineSignal(SIGNALS.hint);

export interface Hints {
  /** A hint came and was not yet followed by a read. */
  readonly pending: boolean;
  /** When a pending hint may be followed by a read; null without one, or when the reads are used up. */
  readableAtMs(nowMs: number): number | null;
  /** To be called before the read: a hint during it asks for another one. */
  take(nowMs: number): void;
}

/** Keeps hints from now on. @param tries of the wait they are for */
export function keepHints(tries: number): Hints {
  const maxReads = Math.min(2 * tries, MAX_HINTED_READS);
  let pending = false;
  let reads = 0;
  let lastMs = -Infinity;
  const description = 'Read the status now; what is read decides, the hint never does.';
  setHandler(hintSignal, () => void (pending = reads < maxReads), { description });
  return {
    get pending() {
      return pending;
    },
    readableAtMs: (nowMs) => (pending ? Math.max(nowMs, lastMs + MIN_GAP_MS) : null),
    take: (nowMs) => {
      pending = false;
      reads += 1;
      lastMs = nowMs;
    },
  };
}
