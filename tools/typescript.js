/**
 * `node --import ./tools/typescript.js <file>`: runs TypeScript from source. Loads tsx in the main thread only: the
 * threads of a Temporal worker run JavaScript, and tsx would cost each of them more than everything else they load.
 */
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  // Before anything loads the test runner.
  if (process.env.NODE_TEST_CONTEXT !== undefined) await import('./lighter-test-hooks.js');
  (await import('tsx/esm/api')).register();
}
