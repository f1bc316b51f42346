import type { Run } from '../../src/starter.ts';
import { eventually } from './eventually.ts';

/** Resolves when the run waits for a lock. */
export const queuedFor = (run: Run): Promise<true> =>
  eventually('the queue', async () => (await run.status()).waiting?.for === 'lock');
