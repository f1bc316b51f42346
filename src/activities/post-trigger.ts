/**
 * The two triggers. A POST is not idempotent, so it gets one attempt on a fresh connection, and a worker that was
 * stalled does not send it. It ends with an answer or a typed failure.
 */
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { DeploymentIdField, TriggerActivityInput, TriggerAnswer } from '../contract/activities.ts';
import type { Target } from '../contract/target.ts';
import { TIMING } from '../contract/timing.ts';
import { plainText } from '../contract/safe-text.ts';
import type { HostingApiClient, TriggerOptions } from '../hosting-api/index.ts';
import { isOfThisWorker, isTokenRefused, toTriggerFailure } from './failures.ts';
import { permitPost, type Permit, type PostCheckDeps, type PostInput, createRefusedPosts } from './post-checks.ts';

export interface TriggerDeps extends Omit<PostCheckDeps, 'refused'> {
  service: HostingApiClient;
  hasColleagues: () => Promise<boolean>;
}

export function createTriggers({ service, rest, hasColleagues, ...others }: TriggerDeps, permits: readonly Permit[]) {
  const refused = createRefusedPosts(hasColleagues);
  const checked: PostCheckDeps = { rest, refused, ...others };

  async function trigger<T>(input: PostInput, post: (options: TriggerOptions) => Promise<T>): Promise<T> {
    const permit = await permitPost(input, checked, permits);
    const beating = setInterval(() => heartbeat(), TIMING.post.heartbeatMs);
    try {
      return await post({ signal: cancellationSignal(), idempotencyKey: input.idempotencyKey, permit });
    } catch (error) {
      if (isOfThisWorker(error)) rest.begin(plainText(error.message));
      if (isTokenRefused(error)) refused.add(input.idempotencyKey);
      throw toTriggerFailure(error, activityInfo().currentAttemptScheduledTimestampMs);
    } finally {
      clearInterval(beating);
    }
  }

  return {
    triggerDeployment: (
      input: TriggerActivityInput & DeploymentIdField & { target: Target; serverId?: string },
    ): Promise<TriggerAnswer> =>
      trigger(input, (options) => service.triggerDeployment(input.target, { ...options, idField: input.deploymentId })),

    createBackup: (input: TriggerActivityInput & { serverId: string }): Promise<{ backupId: string }> =>
      trigger(input, (options) => service.createBackup(input.serverId, options)),
  };
}
