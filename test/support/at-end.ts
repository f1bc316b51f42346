/** What a test file has to undo, last thing first, when all its tests are over. */
import { after } from 'node:test';

const undo: (() => Promise<unknown>)[] = [];

// Registered while the file loads: within a hook or test it would belong to that one alone. A benchmark is no test.
if (/\.test\.ts$/.test(process.argv[1] ?? '')) after(endAll);

export function atEnd(action: () => Promise<unknown>): void {
  undo.push(action);
}

/** For a program that is no test. */
export async function endAll(): Promise<void> {
  for (let last = undo.pop(); last !== undefined; last = undo.pop()) await last();
}
