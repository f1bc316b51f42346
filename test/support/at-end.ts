/** Undoes what a test file set up, in reverse order, after all its tests. */
import { after } from 'node:test';

const undo: (() => Promise<unknown>)[] = [];
let ended = false;

// Registered at load time: within a hook or test it would belong only to that one. A benchmark has no tests.
if (/(?:\.test|\/group)\.ts$/.test(process.argv[1] ?? '')) after(endAll);

/** A set-up that another set-up's failure overtook may still be in progress at the end: it is undone at once. */
export function atEnd(action: () => Promise<unknown>): void {
  if (ended) void action();
  else undo.push(action);
}

/** For a program that is not a test. */
export async function endAll(): Promise<void> {
  ended = true;
  for (let last = undo.pop(); last !== undefined; last = undo.pop()) await last();
}

/** For a program that a signal ends. */
export function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void endAll().finally(() => process.exit(1)));
  }
}
