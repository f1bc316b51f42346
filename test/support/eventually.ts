import { setTimeout as sleep } from 'node:timers/promises';

/** A look often costs a query to a worker, so they become rarer: a wait gets a tenth longer by it, or a second. */
const pauseMs = (waitedMs: number) => Math.min(50 + waitedMs / 10, 1_000);

/** The first value that is not null, undefined or false. The limit only keeps a test from waiting forever. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  timeoutMs = 180_000,
): Promise<T> {
  const startedMs = Date.now();
  for (;;) {
    const seen = await look();
    if (seen !== null && seen !== undefined && seen !== false) return seen;
    const waitedMs = Date.now() - startedMs;
    if (waitedMs > timeoutMs) throw new Error(`not seen within ${timeoutMs} ms: ${what}`);
    await sleep(pauseMs(waitedMs));
  }
}
