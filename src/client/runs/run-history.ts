/** Reads from a run's history what the run itself does not answer: its input and the results of its operations. */
import { ApplicationFailure, TimeoutFailure, type Client, type WorkflowHandle } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { OPERATION_TYPES, POOLED_WAIT_ACTIVITY, POST_ACTIVITIES, READ_ACTIVITIES } from '../../contract/names.ts';
import type { ReadAnswer } from '../../contract/activities.ts';
import type { PooledWaitEnd } from '../../contract/polling.ts';
import { isUnsent, resultOfFailure, type NotAccepted } from '../../rules/trigger-policy.ts';
import type { BackupResult, DeploymentResult, RunInput, TriggerReport } from '../../contract/run.ts';
import type { Execution } from '../../contract/operation.ts';
import { decoded, decodedFailure } from '../decode-payloads.ts';

export interface HistoryFacts {
  input: RunInput | null;
  parts: (BackupResult | DeploymentResult)[];
  operations: Execution[];
  open: Execution | null;
  /** The ids of the operations that it asked Temporal to start. */
  asked: string[];
  /** The execution's own id, unless it was reset. */
  firstRunId: string | null;
}

export type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

/** Notifications are children of a run, too. @param type of a child */
export const isOperation = (type: string | null | undefined): boolean => OPERATION_TYPES.includes(type ?? '');

export async function historyFacts(client: Client, handle: WorkflowHandle): Promise<HistoryFacts> {
  const { events } = await handle.fetchHistory();
  return factsIn(client, events ?? []);
}

export async function factsIn(client: Client, events: Events): Promise<HistoryFacts> {
  const facts: HistoryFacts = { input: null, parts: [], operations: [], open: null, asked: [], firstRunId: null };
  for (const event of events) await recordEvent(client, facts, event);
  return facts;
}

async function recordEvent(client: Client, facts: HistoryFacts, event: Events[number]): Promise<void> {
  const started = event.workflowExecutionStartedEventAttributes;
  if (started) {
    facts.input = await decoded<RunInput>(client, started.input?.payloads);
    facts.firstRunId = started.firstExecutionRunId ?? null;
  }
  const asked = event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowId;
  if (asked != null) facts.asked.push(asked);
  const begun = event.childWorkflowExecutionStartedEventAttributes;
  if (isOperation(begun?.workflowType?.name)) {
    const { workflowId, runId } = begun?.workflowExecution ?? {};
    facts.open = { workflowId: workflowId ?? '', runId: runId ?? '' };
    facts.operations.push(facts.open);
  }
  const closed =
    event.childWorkflowExecutionCompletedEventAttributes ??
    event.childWorkflowExecutionFailedEventAttributes ??
    event.childWorkflowExecutionTerminatedEventAttributes ??
    event.childWorkflowExecutionTimedOutEventAttributes ??
    event.childWorkflowExecutionCanceledEventAttributes;
  if (!closed || !isOperation(closed.workflowType?.name)) return;
  facts.open = null;
  const completed = event.childWorkflowExecutionCompletedEventAttributes?.result;
  const failed = event.childWorkflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.details;
  const part = await decoded<BackupResult | DeploymentResult>(client, (completed ?? failed)?.payloads);
  if (part !== null) facts.parts.push(part);
}

/** What the history of an operation shows of it, if no worker answers for it. */
export interface RecordedOperation {
  trigger: Pick<TriggerReport, 'attempts' | 'ambiguous'>;
  acceptedAt: string | null;
  backupId: string | null;
  lastStatus: string | null;
  polls: number;
}

export async function recordedOperation(client: Client, { workflowId, runId }: Execution): Promise<RecordedOperation> {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  return operationIn(client, events ?? []);
}

export async function operationIn(client: Pick<Client, 'options'>, events: Events): Promise<RecordedOperation> {
  const types = new Map<string, string>();
  const trigger = { attempts: 0, ambiguous: false };
  const shown: RecordedOperation = { trigger, acceptedAt: null, backupId: null, lastStatus: null, polls: 0 };
  for (const event of events) {
    const type = event.activityTaskScheduledEventAttributes?.activityType?.name;
    if (type != null) types.set(String(event.eventId), type);
    if (type != null && POST_ACTIVITIES.includes(type)) trigger.attempts += 1;
    const completed = event.activityTaskCompletedEventAttributes;
    const failed = event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes;
    const closed = types.get(String((completed ?? failed)?.scheduledEventId)) ?? '';
    const answer = <T>() => decoded<T>(client, completed?.result?.payloads);
    if (POST_ACTIVITIES.includes(closed) && failed) {
      const result = resultOfPost(await decodedFailure(client, failed.failure));
      if (isUnsent(result)) trigger.attempts -= 1;
      trigger.ambiguous ||= result.kind === 'ambiguous';
    } else if (POST_ACTIVITIES.includes(closed)) {
      shown.acceptedAt = new Date(tsToMs(event.eventTime)).toISOString();
      shown.backupId = (await answer<{ backupId?: string }>())?.backupId ?? null;
    } else if (READ_ACTIVITIES.includes(closed) && completed) {
      noteRead(shown, await answer<ReadAnswer>());
    } else if (closed === POOLED_WAIT_ACTIVITY && completed) {
      const end = await answer<PooledWaitEnd>();
      shown.polls += end?.progress.polls ?? 0;
      shown.lastStatus = end?.progress.lastStatus ?? shown.lastStatus;
      noteRead(shown, end?.read ?? null);
    }
  }
  return shown;
}

export function resultOfPost(failure: Error | null): NotAccepted {
  if (failure instanceof TimeoutFailure && failure.timeoutType === 'SCHEDULE_TO_START')
    return { kind: 'not_taken', message: failure.message };
  return resultOfFailure(failure instanceof ApplicationFailure ? failure.type : null, failure?.message ?? '', {});
}

function noteRead(shown: RecordedOperation, read: ReadAnswer | null): void {
  if (read?.ok !== true) return;
  shown.polls += 1;
  shown.lastStatus = read.status;
}
