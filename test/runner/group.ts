/**
 * `group.ts FILE …`: runs files of tests in one process, one after another, because each process loads the SDK and
 * compiles for itself. Each file is a suite, so a hook of one fails no other.
 */
import process from 'node:process';
import { describe } from 'node:test';
import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
// First, so that what it undoes is undone after all suites, and not after the first.
import '../support/at-end.ts';
import { replays } from '../support/replay-later.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const load = (file: string) =>
  new Promise<void>((resolve) => {
    describe(relative(ROOT, file), async () => {
      // Within the suite, so that the tests of the file belong to it.
      await import(pathToFileURL(file).href).finally(resolve);
    });
  });

await Promise.all(process.argv.slice(2).map(load));
// Last, because a replay makes every later promise slower.
if (replays.length > 0) await import('../support/replay-tests.ts');
