/** What a run's history tells of it where the run itself can't be asked: its input, and the ends of its operations. */
import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { BackupResult, DeploymentResult, RunInput } from '../../contract/run.ts';

export interface HistoryFacts {
  input: RunInput | null;
  /** The operations that have closed. */
  parts: (BackupResult | DeploymentResult)[];
  /** The one that was begun last and hasn't closed. */
  open: { workflowId: string; runId: string } | null;
}

type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

export async function historyFacts(handle: WorkflowHandle): Promise<HistoryFacts> {
  const { events } = await handle.fetchHistory();
  const facts: HistoryFacts = { input: null, parts: [], open: null };
  for (const event of events ?? []) note(facts, event);
  return facts;
}

/** What a workflow was started with. */
export async function inputOf<T>(handle: WorkflowHandle): Promise<T | null> {
  const { events } = await handle.fetchHistory();
  return decoded<T>(events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads);
}

function note(facts: HistoryFacts, event: Events[number]): void {
  const started = event.workflowExecutionStartedEventAttributes;
  if (started) facts.input = decoded<RunInput>(started.input?.payloads);
  const begun = event.childWorkflowExecutionStartedEventAttributes?.workflowExecution;
  if (begun) facts.open = { workflowId: begun.workflowId ?? '', runId: begun.runId ?? '' };
  const closed =
    event.childWorkflowExecutionCompletedEventAttributes ??
    event.childWorkflowExecutionFailedEventAttributes ??
    event.childWorkflowExecutionTerminatedEventAttributes;
  if (!closed) return;
  facts.open = null;
  const completed = event.childWorkflowExecutionCompletedEventAttributes?.result;
  const failed = event.childWorkflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.details;
  const part = decoded<BackupResult | DeploymentResult>((completed ?? failed)?.payloads);
  if (part !== null) facts.parts.push(part);
}

function decoded<T>(payloads: Payload[] | null | undefined): T | null {
  const [payload] = payloads ?? [];
  return payload === undefined ? null : defaultPayloadConverter.fromPayload<T>(payload);
}
