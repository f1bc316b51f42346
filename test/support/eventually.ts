import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** A look often costs a query to a worker, so they become rarer: a wait gets a tenth longer by it, or a second. */
const pauseMs = (waitedMs: number) => Math.min(50 + waitedMs / 10, 1_000);

/** A quarter of an hour on a quiet machine. Looks take longer on a slow one, so the limit grows with what it needs. */
const LOOKS = 900;

/**
 * The first value that is not null, undefined or false. The limit only ends a wait that hangs.
 * @throws Error that names what was waited for, and what the last look saw instead
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  looks = LOOKS,
): Promise<T> {
  const startedMs = Date.now();
  for (let left = looks; ; left -= 1) {
    const seen = await look();
    if (seen !== null && seen !== undefined && seen !== false) return seen;
    const waitedMs = Date.now() - startedMs;
    if (left <= 1)
      throw new Error(
        `waited ${Math.round(waitedMs / 1_000)} s for ${what}, but saw ${inspect(seen)}: ${String(look)}`,
      );
    await sleep(pauseMs(waitedMs));
  }
}
