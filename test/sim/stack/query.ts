/** Asks an execution as the server does if no cache has it: a worker replays the history, and its code answers. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { openCached } from '../core/cached-execution.ts';
import type { Sandboxes } from '../core/sdk.ts';
import type { Run } from '../temporal/types.ts';
import { factsOf } from '../worker/executions.ts';

/** @throws Error if the code has no such query */
export async function queryRun<T>(sandboxes: Sandboxes, run: Run, name: string): Promise<T> {
  const cached = await openCached(sandboxes, factsOf(run));
  try {
    await cached.replayAll(run.history);
    return payloads.fromPayload<T>(await cached.query(name));
  } finally {
    await cached.dispose();
  }
}
