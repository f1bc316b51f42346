/** A history without what names the machine that made it. Replays do not look at that. */
import { isRecord } from '../../src/contract/plain-object.ts';

/** @param history as an object with text for bytes */
export function anonymous(history: unknown): unknown {
  if (typeof history === 'string') return NAMED_AFTER_WORKER.test(history) ? 'belay' : history;
  if (Array.isArray(history)) return history.map(anonymous);
  if (!isRecord(history)) return history;
  return Object.fromEntries(
    Object.entries(history)
      .filter(([key]) => !LEFT_OUT.includes(key))
      .map(([key, value]) => [key, anonymous(value)]),
  );
}

/** Its identity, and the queue of its cached workflows. */
const NAMED_AFTER_WORKER = /^belay\/\S+ \S+:\d+ for |^\d+@/;
const LEFT_OUT = ['stackTrace', 'binaryChecksum', 'workerInstanceKey', 'workerControlTaskQueue'];
