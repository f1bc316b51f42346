/**
 * `node --import ./tools/typescript.js <file>`: runs TypeScript from source. Loads tsx in the main thread only: the
 * threads of a Temporal worker run JavaScript, and tsx would cost each of them more than everything else they load.
 */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) (await import('tsx/esm/api')).register();
