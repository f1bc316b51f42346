/**
 * The two triggers. A POST is not idempotent: one attempt, on a fresh connection, never by a worker that was stalled,
 * and every end of it is a typed failure or an answer.
 */
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { TriggerActivityInput } from '../../contract/run.ts';
import type { ServiceClient, TriggerOptions } from '../../hosting-api/index.ts';
import { otherService, toTriggerFailure, triggerFailure } from './failures.ts';

/** Beyond this a POST is not sent: whoever scheduled it may have given up on it. */
const FENCE_MS = 3_000;
const HEARTBEAT_INTERVAL_MS = 1_000;

export function createTriggers({ service }: { service: ServiceClient }) {
  async function trigger<T>(input: TriggerActivityInput, post: (options: TriggerOptions) => Promise<T>): Promise<T> {
    if (input.service !== service.origin) throw triggerFailure('NotSent', otherService(input.service, service.origin));
    if (input.firstRunId !== activityInfo().workflowExecution?.runId) {
      throw triggerFailure('Reset', 'it was reset, and may have sent its request before: nothing was sent');
    }
    const scheduledMs = activityInfo().currentAttemptScheduledTimestampMs;
    const lateMs = Date.now() - scheduledMs;
    if (lateMs > FENCE_MS) {
      const cause = 'the worker was stalled or away, or its clock is ahead of the Temporal server';
      throw triggerFailure('NotSent', `not sent: it was scheduled ${lateMs} ms ago, ${cause}`);
    }
    const beating = setInterval(() => heartbeat(), HEARTBEAT_INTERVAL_MS);
    try {
      const { idempotencyKey } = input;
      return await post({ signal: cancellationSignal(), idempotencyKey, notAfterMs: scheduledMs + FENCE_MS });
    } catch (error) {
      throw toTriggerFailure(error);
    } finally {
      clearInterval(beating);
    }
  }

  return {
    triggerDeployment: (input: TriggerActivityInput & { siteId: string }): Promise<{ marks: string[] }> =>
      trigger(input, (options) => service.triggerDeployment(input.siteId, options)),

    createBackup: (input: TriggerActivityInput & { serverId: string }): Promise<{ backupId: string }> =>
      trigger(input, (options) => service.createBackup(input.serverId, options)),
  };
}
