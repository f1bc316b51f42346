import type { ConnectionLike } from '@temporalio/client';
import { TIMING } from '../../contract/timing.ts';

/** Whether Temporal answers at all, and accepts the credentials of the connection. */
export const answers = (connection: ConnectionLike): Promise<boolean> =>
  connection
    .withDeadline(Date.now() + TIMING.client.aliveMs, () => connection.workflowService.getSystemInfo({}))
    .then(
      () => true,
      () => false,
    );
