/** Runs until SIGINT or SIGTERM; a second one ends the process at once. */
import { SIGNAL_EXIT_CODES, takeInterruption } from './signals.ts';

/** Resolves at the first signal; rejects when `broken` does. */
export async function untilStopped(broken: Promise<never>): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    let seen = 0;
    takeInterruption((signal) => {
      seen += 1;
      if (seen > 1) process.exit(SIGNAL_EXIT_CODES[signal]);
      resolve();
    });
  });
  await Promise.race([stopped, broken]);
}
