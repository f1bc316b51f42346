/** Reads from a run's history what the run itself does not answer: its input and the results of its operations. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { BACKUP_ACTIVITY } from '../../contract/names.ts';
import type { BackupResult, DeploymentResult, RunInput } from '../../contract/run.ts';
import type { Execution } from '../../contract/operation.ts';
import { decoded } from '../decode-payloads.ts';

export interface HistoryFacts {
  input: RunInput | null;
  parts: (BackupResult | DeploymentResult)[];
  operations: Execution[];
  open: Execution | null;
}

export type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

/** Notifications are children of a run, too. @param type of a child */
export const isOperation = (type: string | null | undefined): boolean =>
  type === 'backupServer' || type === 'deploySite';

export async function historyFacts(client: Client, handle: WorkflowHandle): Promise<HistoryFacts> {
  const { events } = await handle.fetchHistory();
  return factsIn(client, events ?? []);
}

export async function factsIn(client: Client, events: Events): Promise<HistoryFacts> {
  const facts: HistoryFacts = { input: null, parts: [], operations: [], open: null };
  for (const event of events) await recordEvent(client, facts, event);
  return facts;
}

async function recordEvent(client: Client, facts: HistoryFacts, event: Events[number]): Promise<void> {
  const started = event.workflowExecutionStartedEventAttributes;
  if (started) facts.input = await decoded<RunInput>(client, started.input?.payloads);
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

export interface AcceptedRequest {
  backupId: string;
  acceptedAt: string;
}

/** @param operation an operation that does not answer itself @returns null if it has made no backup so far */
export async function acceptedRequest(
  client: Client,
  { workflowId, runId }: Execution,
): Promise<AcceptedRequest | null> {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const isRequest = ({ activityTaskScheduledEventAttributes: it }: Events[number]) =>
    it?.activityType?.name === BACKUP_ACTIVITY;
  const requests = (events ?? []).filter(isRequest).map(({ eventId }) => String(eventId));
  for (const { activityTaskCompletedEventAttributes: completed, eventTime } of events ?? []) {
    if (!requests.includes(String(completed?.scheduledEventId))) continue;
    const answer = await decoded<{ backupId: string }>(client, completed?.result?.payloads);
    if (answer !== null) return { backupId: answer.backupId, acceptedAt: new Date(tsToMs(eventTime)).toISOString() };
  }
  return null;
}
