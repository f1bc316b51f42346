/** The suites whose histories are replayed after all tests of the process. */
import type { Client } from '@temporalio/client';

export interface Replay {
  suite: string;
  client: () => Client;
  /** That many histories at least, so that the test cannot pass without any. */
  least: number;
}

export const replays: Replay[] = [];

/**
 * Has the histories of this suite replayed after all files of its process (replay-tests.ts). A replay turns on a
 * hook of the SDK for the rest of the process, and from then on every promise of the tests costs a stack trace.
 */
export function replayLater(suite: string, client: () => Client, least: number): void {
  replays.push({ suite, client, least });
}
