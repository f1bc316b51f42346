/** Tells how something ended. A workflow of its own: neither the verdict nor its lock waits for a chat that is away. */
import { ApplicationFailure, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { WORKFLOW_TASK_TIMEOUT_MS, type Outcome } from '../../contract/run.ts';
import type { TellInput } from '../../contract/event.ts';
import type { NotifyFacts } from '../../contract/activities.ts';
import { callHeartbeat, notifyAll } from './deliver.ts';

export async function tellTargets({ notification, targets, heartbeat }: TellInput): Promise<string[]> {
  const [called, { told, unheard }] = await Promise.all([
    heartbeat === null ? true : callHeartbeat(heartbeat),
    notifyAll(notification, targets),
  ]);
  const missed = [...unheard, ...(called ? [] : [`heartbeat ${heartbeat}`])];
  if (missed.length === 0) return told;
  throw ApplicationFailure.create({
    type: 'NotNotified',
    message: `not told within a day: ${missed.join(', ')}; check the address and whether it is there`,
    nonRetryable: true,
  });
}

interface Announcement {
  notify: NotifyFacts | null;
  outcome: Outcome | null;
  notification: TellInput['notification'];
  /** Called where the outcome is `completed`. */
  heartbeat: string | undefined;
  summary: string;
}

/** Starts it where somebody is to be told, under the id of the notification. */
export async function announce({ notify, outcome, notification, heartbeat, summary }: Announcement): Promise<void> {
  if (notify === null) return;
  const isSuccess = outcome === 'completed';
  const targets = isSuccess && notify.on === 'failed' ? [] : notify.targets;
  const called = isSuccess ? (heartbeat ?? null) : null;
  if (targets.length === 0 && called === null) return;
  try {
    await startChild<typeof tellTargets>('tellTargets', {
      workflowId: notification.id,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      staticSummary: summary,
      args: [{ notification, targets, heartbeat: called }],
    });
  } catch (error) {
    // One that was reset told of this before.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
