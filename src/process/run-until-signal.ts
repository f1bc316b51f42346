/** Keeps a program running until SIGINT, SIGTERM or SIGHUP. A second signal ends the process at once. */
import { SIGNAL_EXIT_CODES, onSignal } from './signals.ts';

/** Resolves at the first signal; rejects when `broken` does. */
export async function runUntilSignal(broken: Promise<never>): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    let seen = 0;
    onSignal((signal) => {
      seen += 1;
      if (seen > 1) process.exit(SIGNAL_EXIT_CODES[signal]);
      resolve();
    });
  });
  await Promise.race([stopped, broken]);
}
