/** Asks Temporal whether anyone still waits for an activity. */
import {
  ActivityCancelledError,
  ActivityNotFoundError,
  ActivityPausedError,
  ActivityResetError,
  type Client,
} from '@temporalio/client';
import { TIMING } from '../../contract/timing.ts';

const GIVEN_UP = [ActivityNotFoundError, ActivityCancelledError, ActivityPausedError, ActivityResetError];

/** The question is a heartbeat: its answer comes from the server's record, and no clock of this machine matters. */
export async function isActivityAwaited(client: Client, taskToken: Uint8Array): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + TIMING.post.permitMs, () => client.activity.heartbeat(taskToken));
    return true;
  } catch (error) {
    if (GIVEN_UP.some((type) => error instanceof type)) return false;
    throw error;
  }
}
