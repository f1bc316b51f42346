/** A list of things to come, used up oldest first: what goes wrong with which request, or with which delivery. */
import { z } from 'zod';

export const turnFields = {
  /** So many go well before. */
  skip: z.number().int().min(0).optional(),
  /** Default 1. */
  times: z.number().int().min(1).optional(),
};

interface Turn {
  skip?: number | undefined;
  times?: number | undefined;
}

export interface Turns<T> {
  add(...entries: T[]): void;
  /** Of several that match the oldest counts. */
  next(matches: (entry: T) => boolean): T | null;
}

export function createTurns<T extends Turn>(): Turns<T> {
  const waiting: { entry: T; skip: number; times: number }[] = [];
  return {
    add: (...entries) =>
      void waiting.push(...entries.map((entry) => ({ entry, skip: entry.skip ?? 0, times: entry.times ?? 1 }))),
    next(matches) {
      for (const turn of waiting) {
        if (!matches(turn.entry)) continue;
        if (turn.skip > 0) {
          turn.skip -= 1;
          continue;
        }
        turn.times -= 1;
        if (turn.times === 0) waiting.splice(waiting.indexOf(turn), 1);
        return turn.entry;
      }
      return null;
    },
  };
}
