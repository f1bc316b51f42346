/** One POST: a regular activity with one attempt, never a local one, and what its end means. */
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { TriggerActivityInput, TriggerFailureDetails, TriggerReport } from '../../contract/run.ts';
import type { TriggerEnd } from '../rules/trigger-policy.ts';

/**
 * From scheduling until the last moment a request can still be under way: 3 s in which it may be sent, 8 s for the
 * answer, and one to spare. No POST follows an ambiguous one before that, however early its failure was known.
 */
export const POST_UNDER_WAY_MS = 12_000;

export const post = proxyActivities<Activities>({
  startToCloseTimeout: POST_UNDER_WAY_MS,
  heartbeatTimeout: '5 seconds',
  retry: { maximumAttempts: 1 },
});

/** What every POST of an operation is given. */
export function triggerInput({ service, idempotencyKey }: Pick<TriggerActivityInput, 'service' | 'idempotencyKey'>) {
  return { service, idempotencyKey, firstRunId: workflowInfo().firstExecutionRunId };
}

export const postSummary = (what: string, report: TriggerReport): string => `${what}, request ${report.attempts}`;

export async function triggerEnd<A>(call: Promise<A>): Promise<TriggerEnd<A>> {
  try {
    return { kind: 'accepted', answer: await call };
  } catch (error) {
    return endOf(error);
  }
}

function endOf(error: unknown): Exclude<TriggerEnd<never>, { kind: 'accepted' }> {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (!(cause instanceof ApplicationFailure)) {
    const lost =
      cause instanceof TimeoutFailure ? 'the worker was lost around the request' : 'the request has no known end';
    return { kind: 'ambiguous', message: lost };
  }
  const { retryAfterMs = null } = (cause.details?.[0] ?? {}) as Partial<TriggerFailureDetails>;
  const { message } = cause;
  switch (cause.type) {
    case 'NotSent':
    case 'Throttled':
      return { kind: 'without_effect', message, retryAfterMs };
    case 'Conflict':
      return { kind: 'conflict', message, retryAfterMs };
    case 'Reset':
      return { kind: 'reset', message };
    case 'Refused':
      return { kind: 'refused', message };
    default:
      return { kind: 'ambiguous', message };
  }
}
