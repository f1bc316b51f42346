/** Shares an answer among callers that ask within a short time. */

/** @returns a function that asks again only once the last question is `forMs` old */
export function askAtMost<T>(forMs: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { atMs: number; answer: Promise<T> } | null = null;
  return () => {
    const nowMs = performance.now();
    if (last === null || nowMs - last.atMs >= forMs) last = { atMs: nowMs, answer: ask() };
    return last.answer;
  };
}
