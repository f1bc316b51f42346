/** Shares an answer among those who ask within a time. */

/** @returns what asks again only once the last question is `forMs` old */
export function askAtMost<T>(forMs: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { atMs: number; answer: Promise<T> } | null = null;
  return () => {
    const nowMs = performance.now();
    if (last === null || nowMs - last.atMs >= forMs) last = { atMs: nowMs, answer: ask() };
    return last.answer;
  };
}
