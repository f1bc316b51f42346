/** Looks again and again, and shows what it sees. */

import { TIMING } from '../contract/timing.ts';

export interface Following {
  /** Shows nothing any more. */
  stop(): void;
}

/** @param look must not fail. The next one begins a while after the last has ended. */
export function follow<T>(look: () => Promise<T>, show: (seen: T) => void, pauseMs: number): Following {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function update(): Promise<void> {
    const seen = await look();
    if (stopped) return;
    show(seen);
    timer = setTimeout(() => void update(), pauseMs);
  }

  void update();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Whether to print a line into a log: if it is news, or was printed long ago. CI ends jobs that print nothing for long. */
export function createNews(nowMs: () => number = () => performance.now()): (news: string | null) => boolean {
  let last: { news: string | null; atMs: number } | null = null;
  return (news) => {
    if (last !== null && news === last.news && nowMs() - last.atMs < TIMING.cli.repeatMs) return false;
    last = { news, atMs: nowMs() };
    return true;
  };
}
