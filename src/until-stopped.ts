/** Runs until SIGINT or SIGTERM; a second one ends the process at once. */

/** What shells give for a process that a signal ended. */
const EXIT_CODES: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 130, SIGTERM: 143 };

/** Resolves at the first signal; rejects when `broken` does. */
export async function untilStopped(broken: Promise<never>): Promise<void> {
  let stop: (() => void) | undefined;
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  let seen = 0;
  const handler = (signal: NodeJS.Signals) => {
    seen += 1;
    if (seen > 1) process.exit(EXIT_CODES[signal]);
    stop?.();
  };
  process.on('SIGINT', handler).on('SIGTERM', handler);
  await Promise.race([stopped, broken]);
}
