/**
 * The runs that a restore of Temporal's database left behind. Only Temporal is asked, because these questions come up
 * before any worker is started again.
 */
import type { Client, WorkflowExecutionInfo, WorkflowHandle } from '@temporalio/client';
import pMap from 'p-map';
import { OPERATION_TYPES, RUN_TYPES } from '../../contract/names.ts';
import type { RunResult } from '../../contract/run.ts';
import { isFromRestore } from '../../contract/restored.ts';
import { newest, quoted } from '../../client/list-filter.ts';
import { IN_PARALLEL, type Session } from '../../client/session.ts';
import { decoded } from '../../client/decode-payloads.ts';
import { closedResult, knownOf } from '../../client/runs/run-status.ts';

/** How many runs are looked at: more than any fleet has. */
const MAX_RUNS = 1_000;
const POSTS = ['createBackup', 'triggerDeployment'];

const ofTypes = (types: readonly string[]) => `WorkflowType IN (${types.map(quoted).join(', ')})`;

/** Runs that ended `unknown` because of a restore, newest first. */
export async function listEndedByRestore(session: Session): Promise<RunResult[]> {
  const failed = await newest(session, `${ofTypes(RUN_TYPES)} AND ExecutionStatus = 'Failed'`, MAX_RUNS);
  const resultOf = ({ workflowId, runId, ...info }: WorkflowExecutionInfo) =>
    closedResult(session.client.workflow.getHandle(workflowId, runId), knownOf({ workflowId, runId, ...info }));
  const results = await pMap(failed, resultOf, IN_PARALLEL);
  return results.filter(({ outcome, error }) => outcome === 'unknown' && isFromRestore(error?.message ?? ''));
}

export interface InFlight {
  workflowId: string;
  /** The epoch it began in. Null if it has not begun. */
  epoch: string | null;
  /** Of an operation, whose id is a lock: the run that holds it. */
  lockedBy: string | null;
  /** Of an operation: whether its history shows a request, and an answer to it. */
  request: 'none' | 'unanswered' | 'answered' | null;
}

/** Runs and operations in flight. */
export async function listInFlight(session: Session): Promise<InFlight[]> {
  const query = `${ofTypes([...RUN_TYPES, ...OPERATION_TYPES])} AND ExecutionStatus = 'Running'`;
  return pMap(
    await newest(session, query, MAX_RUNS),
    async ({ workflowId, runId, type, raw }) => {
      const isOperation = OPERATION_TYPES.includes(type);
      const { events } = await session.client.workflow.getHandle(workflowId, runId).fetchHistory();
      const lockedBy = isOperation ? (raw.parentExecution?.workflowId ?? null) : null;
      return {
        workflowId,
        epoch: await epochIn(session.client, events ?? []),
        lockedBy,
        request: isOperation ? requestIn(events ?? []) : null,
      };
    },
    IN_PARALLEL,
  );
}

type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

/** Operations have it in their input, runs in a worker's answer about itself. */
async function epochIn(client: Client, events: Events): Promise<string | null> {
  for (const event of events) {
    const payloads =
      event.workflowExecutionStartedEventAttributes?.input?.payloads ??
      event.activityTaskCompletedEventAttributes?.result?.payloads;
    const { epoch } = (await decoded<{ epoch?: unknown }>(client, payloads)) ?? {};
    if (typeof epoch === 'string') return epoch;
  }
  return null;
}

function requestIn(events: Events): InFlight['request'] {
  const scheduled = events.findLast((event) =>
    POSTS.includes(event.activityTaskScheduledEventAttributes?.activityType?.name ?? ''),
  );
  if (scheduled === undefined) return 'none';
  const isAnswered = events.some((event) => {
    const ended =
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes;
    return ended?.scheduledEventId?.toString() === scheduled.eventId?.toString();
  });
  return isAnswered ? 'answered' : 'unanswered';
}
