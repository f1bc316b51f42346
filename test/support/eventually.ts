import { setTimeout as sleep } from 'node:timers/promises';

/** The first value that isn't null, undefined or false. Throws when there is none in time. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  timeoutMs = 60_000,
): Promise<T> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen !== null && seen !== undefined && seen !== false) return seen;
    if (Date.now() > deadlineMs) throw new Error(`not seen within ${timeoutMs} ms: ${what}`);
    await sleep(50);
  }
}
