/** Hints: somebody says that there is something to read. A flood of them costs a bounded number of reads. */
import { defineSignal, setHandler } from '@temporalio/workflow';
import { SIGNALS } from '../contract.ts';

const MIN_GAP_MS = 1_000;

export const hintSignal = defineSignal(SIGNALS.hint);

export interface Hints {
  /** A hint came and was not yet followed by a read. */
  readonly pending: boolean;
  /** When a pending hint may be followed by a read; null without one, or when the reads are used up. */
  readableAtMs(nowMs: number): number | null;
  /** To be called before the read: a hint during it asks for another one. */
  take(nowMs: number): void;
}

/** Keeps hints from now on. @param maxReads how many hinted reads there may be in all */
export function keepHints(maxReads: number): Hints {
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
