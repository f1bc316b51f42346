/** What a worker asks Temporal about the runs that it works for, about its own activities, and about other workers. */
import {
  Client,
  type ConnectionLike,
  ActivityCancelledError,
  ActivityNotFoundError,
  ActivityPausedError,
  ActivityResetError,
} from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { NOTIFICATION_TYPE, OPERATION_TYPES, QUERIES } from '../../contract/names.ts';
import type { ActivityInProgress } from '../../contract/activities.ts';
import { TIMING } from '../../contract/timing.ts';
import type { Execution, OperationProgress } from '../../contract/operation.ts';
import { latelyPolling, pollersOf } from '../pollers.ts';
import { unlessMissing } from '../read-workflow.ts';

export interface TypedExecution extends Execution {
  type: string;
}

const PARTS_OF_RUNS = [...OPERATION_TYPES, NOTIFICATION_TYPE];
const MAX_REMEMBERED = 10_000;

/**
 * Finds the run that a workflow belongs to, because operations and notifications are children of runs.
 *
 * @returns the run id of that run; the run id of the workflow itself if it belongs to no run or Temporal does not answer
 */
export function createFindRunOf(
  connection: ConnectionLike,
  namespace: string,
): (workflow: TypedExecution) => Promise<string> {
  const client = new Client({ connection, namespace });
  // A workflow keeps its parent.
  const known = new LRUCache<string, string, TypedExecution>({
    max: MAX_REMEMBERED,
    async fetchMethod(runId, _known, { context: { workflowId } }) {
      const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
      return raw.workflowExecutionInfo?.parentExecution?.runId ?? runId;
    },
  });
  return async (workflow) => {
    const { runId, type } = workflow;
    if (!PARTS_OF_RUNS.includes(type)) return runId;
    return (await known.fetch(runId, { context: workflow }).catch(() => undefined)) ?? runId;
  };
}

/* Asks Temporal whether it still waits for an activity, and since when. */

const GIVEN_UP = [ActivityNotFoundError, ActivityCancelledError, ActivityPausedError, ActivityResetError];

/**
 * The question is a heartbeat. Temporal records when the heartbeat came, so both times are Temporal's, and no clock of
 * this machine matters.
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

/* Finds the run that started an operation, and the rollout that started the run. */

/** A run and its rollout. */
const GENERATIONS = 2;

/** @returns the nearest ancestor first, each by its first execution, because a reset keeps that */
export async function startedBy({ workflow }: Client, operation: Execution): Promise<Execution[]> {
  const look = async ({ workflowId, runId }: Execution) =>
    (await unlessMissing(workflow.getHandle(workflowId, runId).describe()))?.raw.workflowExecutionInfo;
  const found: Execution[] = [];
  let info = await look(operation);
  while (found.length < GENERATIONS) {
    const { workflowId, runId } = info?.parentExecution ?? {};
    if (workflowId == null || runId == null) break;
    info = await look({ workflowId, runId });
    found.push({ workflowId, runId: info?.firstRunId ?? runId });
  }
  return found;
}

/** @throws Error if the operation does not answer */
export function queryOperation({ workflow }: Client, { workflowId, runId }: Execution): Promise<OperationProgress> {
  return workflow.getHandle(workflowId, runId).query<OperationProgress>(QUERIES.progress);
}

export async function hasColleagues(client: Client, own: { taskQueue: string; identity: string }): Promise<boolean> {
  const { namespace } = client.options;
  const pollers = await client.withDeadline(Date.now() + TIMING.lookup.pollersMs, () =>
    pollersOf(client.workflowService, { namespace, taskQueue: own.taskQueue }),
  );
  return latelyPolling(pollers).some(({ identity }) => identity !== own.identity);
}
