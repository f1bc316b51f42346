/** A queue of faults for later requests or deliveries. The oldest match is used first. */
import { z } from 'zod';

export const turnFields = {
  /** How many matching ones succeed first. */
  skip: z.number().int().min(0).optional(),
  /** How many fail; default 1. */
  times: z.number().int().min(1).optional(),
};

interface QueuedFault {
  skip?: number | undefined;
  times?: number | undefined;
}

export interface FaultQueue<T> {
  add(...entries: T[]): void;
  /** Takes the oldest match. */
  next(matches: (entry: T) => boolean): T | null;
}

export function createFaultQueue<T extends QueuedFault>(): FaultQueue<T> {
  const waiting: { entry: T; skip: number; times: number }[] = [];
  return {
    add: (...entries) =>
      void waiting.push(...entries.map((entry) => ({ entry, skip: entry.skip ?? 0, times: entry.times ?? 1 }))),
    next(matches) {
      for (const queued of waiting) {
        if (!matches(queued.entry)) continue;
        if (queued.skip > 0) {
          queued.skip -= 1;
          continue;
        }
        queued.times -= 1;
        if (queued.times === 0) waiting.splice(waiting.indexOf(queued), 1);
        return queued.entry;
      }
      return null;
    },
  };
}
