/** Looks again and again, and shows what it sees. */

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
