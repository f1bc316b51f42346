import type { Client } from '@temporalio/client';
import { eventually } from './eventually.ts';
import { SIGNALS } from '../../src/contract/names.ts';
import type { Run } from '../../src/client/runs/run-handle.ts';

/** Resolves when the run waits for a lock. */
export const queuedFor = (run: Run): Promise<true> =>
  eventually('the queue', async () => (await run.status()).waiting?.kind === 'lock');

/** Resolves when the holder of the lock has received this many requests for it. */
export const requestsAt = (client: Client, lockId: string, count: number): Promise<true> =>
  eventually(`${count} requests for ${lockId}`, async () => {
    const { events } = await client.workflow.getHandle(lockId).fetchHistory();
    const signals = events?.filter(
      ({ workflowExecutionSignaledEventAttributes: it }) => it?.signalName === SIGNALS.lockRequested,
    );
    return (signals?.length ?? 0) >= count;
  });
