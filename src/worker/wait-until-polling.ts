/** Whether Temporal has heard of a worker: one that says that it polls can be given runs at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NativeConnection } from '@temporalio/worker';
import { workersSeen } from '../client/connection/pollers.ts';

const PATIENCE_MS = 5_000;
const PAUSE_MS = 20;

/** Resolves once it has, and where it can't be asked in time. */
export async function heardOf(
  connection: NativeConnection,
  { namespace, taskQueue, identity }: { namespace: string; taskQueue: string; identity: string },
): Promise<void> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  const ask = () =>
    connection.withDeadline(deadlineMs, () => workersSeen(connection.workflowService, namespace, taskQueue));
  const isHeard = () => ask().then((identities) => identities.includes(identity));
  while (!(await isHeard().catch(() => true))) await sleep(PAUSE_MS);
}
