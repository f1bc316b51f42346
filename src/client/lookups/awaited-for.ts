/** Asks Temporal whether it still waits for an activity, and since when. */
import {
  ActivityCancelledError,
  ActivityNotFoundError,
  ActivityPausedError,
  ActivityResetError,
  type Client,
} from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { ActivityInProgress } from '../../contract/activities.ts';
import { TIMING } from '../../contract/timing.ts';

const GIVEN_UP = [ActivityNotFoundError, ActivityCancelledError, ActivityPausedError, ActivityResetError];

/**
 * The question is a heartbeat. Temporal records when it came, so both times are Temporal's, and no clock of this machine
 * matters.
 *
 * @returns how long after its scheduling the question came; null if Temporal no longer waits for the activity
 */
export async function awaitedForMs(client: Client, activity: ActivityInProgress): Promise<number | null> {
  try {
    return await client.withDeadline(Date.now() + TIMING.post.permitMs, async () => {
      await client.activity.heartbeat(activity.taskToken);
      const askedMs = await lastHeartbeatMs(client, activity);
      return askedMs === null ? null : askedMs - activity.scheduledMs;
    });
  } catch (error) {
    if (GIVEN_UP.some((type) => error instanceof type)) return null;
    throw error;
  }
}

async function lastHeartbeatMs(
  { workflow, options: { namespace } }: Client,
  { workflowId, runId, activityId }: ActivityInProgress,
): Promise<number | null> {
  const execution = { workflowId, runId };
  const { pendingActivities } = await workflow.workflowService.describeWorkflowExecution({ namespace, execution });
  const activity = pendingActivities.find((it) => it.activityId === activityId);
  return optionalTsToMs(activity?.lastHeartbeatTime) ?? null;
}
