/** Whether a worker is not the only one of its task queue. */
import type { Client } from '@temporalio/client';
import { TIMING } from '../../contract/timing.ts';
import { latelyPolling, pollersOf } from '../pollers.ts';

export async function hasColleagues(client: Client, own: { taskQueue: string; identity: string }): Promise<boolean> {
  const { namespace } = client.options;
  const pollers = await client.withDeadline(Date.now() + TIMING.lookup.pollersMs, () =>
    pollersOf(client.workflowService, { namespace, taskQueue: own.taskQueue }),
  );
  return latelyPolling(pollers).some(({ identity }) => identity !== own.identity);
}
