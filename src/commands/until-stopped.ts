/** Runs until SIGINT or SIGTERM; a second one ends the process at once. */
import { EXIT } from './exit.ts';

/** Resolves at the first signal; rejects when `broken` does. */
export async function untilStopped(broken: Promise<never>): Promise<void> {
  let stopped: (() => void) | undefined;
  const signal = new Promise<void>((resolve) => (stopped = resolve));
  let seen = 0;
  const handler = (name: NodeJS.Signals) => {
    seen += 1;
    if (seen > 1) process.exit(name === 'SIGINT' ? EXIT.interrupted : EXIT.terminated);
    stopped?.();
  };
  process.on('SIGINT', handler).on('SIGTERM', handler);
  await Promise.race([signal, broken]);
}
