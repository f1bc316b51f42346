/** Bounds the time of a call to Temporal, and turns its errors into BelayErrors. */
import type { Session } from './session.ts';
import { toBelayError } from './to-belay-error.ts';

/** @param what the action, such as `list runs`. @throws BelayError */
export const within = <T>(
  { client }: Pick<Session, 'client'>,
  ms: number,
  what: string,
  act: () => Promise<T>,
): Promise<T> =>
  client.withDeadline(Date.now() + ms, act).catch((error: unknown) => {
    throw toBelayError(error, what);
  });

/** Shares an answer among callers that ask within a short time. The next question comes once the last is `forMs` old. */
export function askAtMost<T>(forMs: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { atMs: number; answer: Promise<T> } | null = null;
  return () => {
    const nowMs = performance.now();
    if (last === null || nowMs - last.atMs >= forMs) last = { atMs: nowMs, answer: ask() };
    return last.answer;
  };
}
