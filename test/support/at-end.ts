/** What a test file has to undo, last thing first, when all its tests are over. */
import { after } from 'node:test';

const undo: (() => Promise<unknown>)[] = [];

// Registered while the file loads: within a hook or test it would belong to that one alone.
after(async () => {
  for (let last = undo.pop(); last !== undefined; last = undo.pop()) await last();
});

export function atEnd(action: () => Promise<unknown>): void {
  undo.push(action);
}
