/** What time Temporal has: it tells by when it last saw somebody poll, so we poll a queue that nobody uses. */
import { tsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import type { Place } from '../../cli/doctor/place.ts';

/** The shortest deadline a poll may have is two seconds; it comes back two seconds before its deadline. */
const POLL_MS = 2_300;

export async function serverTimeMs({ connection, namespace }: Place): Promise<number> {
  const taskQueue = { name: `belay-doctor-${process.pid}-${Date.now()}` };
  const identity = 'belay doctor';
  await connection.withDeadline(Date.now() + POLL_MS, () =>
    connection.workflowService.pollActivityTaskQueue({ namespace, taskQueue, identity }),
  );
  const endedMs = Date.now();
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue,
    taskQueueType: proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
  });
  const seen = pollers.find((poller) => poller.identity === identity)?.lastAccessTime;
  if (seen === undefined || seen === null) throw new Error('it did not tell its time');
  // As if it had been asked just now.
  return tsToMs(seen) + (Date.now() - endedMs);
}
