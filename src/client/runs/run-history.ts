/** Reads from a run's history what the run itself does not answer: its input and the results of its operations. */
import type { WorkflowHandle } from '@temporalio/client';
import type { BackupResult, DeploymentResult, RunInput } from '../../contract/run.ts';
import { decoded } from '../connection/workflow-input.ts';

export interface HistoryFacts {
  input: RunInput | null;
  /** The operations that have closed. */
  parts: (BackupResult | DeploymentResult)[];
  /** The operation that was started last, if it has not closed. */
  open: { type: string; workflowId: string; runId: string } | null;
}

export type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

const OPERATIONS = ['backupServer', 'deploySite'];

export async function historyFacts(handle: WorkflowHandle): Promise<HistoryFacts> {
  const { events } = await handle.fetchHistory();
  const facts: HistoryFacts = { input: null, parts: [], open: null };
  for (const event of events ?? []) recordEvent(facts, event);
  return facts;
}

function recordEvent(facts: HistoryFacts, event: Events[number]): void {
  const started = event.workflowExecutionStartedEventAttributes;
  if (started) facts.input = decoded<RunInput>(started.input?.payloads);
  const begun = event.childWorkflowExecutionStartedEventAttributes;
  const type = begun?.workflowType?.name ?? '';
  if (OPERATIONS.includes(type)) {
    const { workflowId, runId } = begun?.workflowExecution ?? {};
    facts.open = { type, workflowId: workflowId ?? '', runId: runId ?? '' };
  }
  const closed =
    event.childWorkflowExecutionCompletedEventAttributes ??
    event.childWorkflowExecutionFailedEventAttributes ??
    event.childWorkflowExecutionTerminatedEventAttributes ??
    event.childWorkflowExecutionTimedOutEventAttributes ??
    event.childWorkflowExecutionCanceledEventAttributes;
  if (!closed || !OPERATIONS.includes(closed.workflowType?.name ?? '')) return;
  facts.open = null;
  const completed = event.childWorkflowExecutionCompletedEventAttributes?.result;
  const failed = event.childWorkflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.details;
  const part = decoded<BackupResult | DeploymentResult>((completed ?? failed)?.payloads);
  if (part !== null) facts.parts.push(part);
}
