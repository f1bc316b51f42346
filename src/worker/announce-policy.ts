/** Lets `belay doctor` compare the policies of all workers of a queue. A connection that may not poll reports nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionLike } from '@temporalio/client';
import { pollOnce } from '../client/poll-once.ts';
import { policyNoticeText, policyQueue } from '../contract/policy-notice.ts';
import { TIMING } from '../contract/timing.ts';
import type { CurrentPolicy } from '../config/live-policy.ts';

interface Announced {
  namespace: string;
  taskQueue: string;
  identity: string;
}

/** Reports it again and again until aborted, because Temporal forgets a poll after five minutes. */
export async function announcePolicy(
  connection: ConnectionLike,
  policy: CurrentPolicy,
  { namespace, taskQueue, identity }: Announced,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const { hash, isLatest } = await policy();
    const notice = policyNoticeText({ hash, isLatest, worker: identity });
    const reported = { namespace, taskQueue: policyQueue(taskQueue), identity: notice, signal };
    await pollOnce(connection, reported).catch(() => undefined);
    await sleep(TIMING.worker.policyMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
