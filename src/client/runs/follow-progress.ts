/** The status of a run in flight from Temporal's records, for those who follow it. */
import type { WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import { readOfSummary } from '../../contract/wording/read-summary.ts';
import type { RunResult } from '../../contract/run.ts';
import type { Waiting } from '../../contract/waiting.ts';
import { TIMING } from '../../contract/timing.ts';
import { decoded } from '../connection/workflow-input.ts';
import { withLink } from '../connection/ui-link.ts';
import type { Session } from '../connection/session.ts';
import { historyFacts, type Events, type HistoryFacts } from './run-history.ts';
import { describeRun, knownOf, silence, statusOf, withPart, type Contact, type RunStatus } from './run-status.ts';

/** Enough for what follows the start of a timer: its end, hints, and the tasks of both. */
const LATEST_EVENTS = 30;

/** Each call returns the status of now. Between two reads nothing changes, so Temporal is asked once for each read. */
export function followProgress(session: Session, handle: WorkflowHandle): () => Promise<RunStatus> {
  const isIdle = idleness();
  let last: { status: RunStatus; untilMs: number } | null = null;
  return async () => {
    if (last === null || Date.now() >= last.untilMs) {
      const status = await progressOf(session, handle, isIdle);
      last = { status, untilMs: changesAtMs(status) };
    }
    return last.status;
  };
}

function changesAtMs({ waiting }: RunStatus): number {
  if (waiting === null || waiting.kind === 'lock') return 0;
  return Date.parse(waiting.nextReadAt) + TIMING.progress.readMs;
}

async function progressOf(session: Session, handle: WorkflowHandle, isIdle: Idleness): Promise<RunStatus> {
  const described = await describeRun(handle);
  const known = knownOf(described);
  // Only the run itself knows who holds the lock.
  if (described.status.name !== 'RUNNING' || known.phase === 'queued') return statusOf(session, handle);
  const facts = await historyFacts(session.client.workflow.getHandle(described.workflowId, described.runId));
  const events = facts.open === null ? null : await latestEvents(session, facts.open);
  const waiting = facts.open === null || events === null ? null : waitOf(facts.open, events);
  // Only the operation itself knows since when it is parked.
  if (waiting === 'other') return statusOf(session, handle);
  const contact = await contactOf(session, described, isIdle(described, events));
  return { result: withLink(session, resultOf(known, facts)), waiting, contact };
}

function resultOf(known: RunResult, { open, parts }: HistoryFacts): RunResult {
  const result = parts.reduce(withPart, known);
  if (open === null) return result;
  return { ...result, phase: open.type === 'backupServer' ? 'backup' : 'deploy' };
}

async function contactOf(
  session: Session,
  described: WorkflowExecutionDescription,
  isIdleFor: boolean,
): Promise<Contact> {
  const why = await silence(session, described);
  return why === 'silent' && !isIdleFor ? 'answers' : why;
}

/** The newest first. */
async function latestEvents({ client, namespace }: Session, { workflowId, runId }: Open): Promise<Events> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution: { workflowId, runId },
    maximumPageSize: LATEST_EVENTS,
  });
  return history?.events ?? [];
}

type Open = NonNullable<HistoryFacts['open']>;

/** @returns null if it does not wait for a read, and `other` if its timer does not say for which */
function waitOf({ type }: Open, events: Events): Waiting | 'other' | null {
  const begun = events.find((it) => it.timerStartedEventAttributes);
  const summary = decoded<string>(begun?.userMetadata?.summary ? [begun.userMetadata.summary] : []);
  if (begun === undefined || summary === null) return null;
  const read = readOfSummary(summary, type === 'backupServer' ? 'backup' : 'deployment');
  if (read === null) return 'other';
  const { seconds, nanos } = begun.timerStartedEventAttributes?.startToFireTimeout ?? {};
  const dueMs = msOf(begun.eventTime) + msOf({ seconds, nanos });
  return { ...read, nextReadAt: new Date(dueMs).toISOString() };
}

interface Stamp {
  seconds?: unknown;
  nanos?: number | null | undefined;
}

const msOf = (stamp: Stamp | null | undefined): number =>
  Number(stamp?.seconds ?? 0) * 1_000 + Math.round((stamp?.nanos ?? 0) / 1e6);

type Idleness = (described: WorkflowExecutionDescription, events: Events | null) => boolean;

/** Whether the same workflow task has waited for a worker for a while, as far as these calls have seen. */
function idleness(): Idleness {
  let seen: { task: string; sinceMs: number } | null = null;
  return ({ historyLength, raw }, events) => {
    const newest = events?.[0];
    const waits =
      events === null ? raw.pendingWorkflowTask != null : newest?.workflowTaskScheduledEventAttributes != null;
    if (!waits) seen = null;
    else {
      const task = String(newest?.eventId ?? historyLength);
      if (seen?.task !== task) seen = { task, sinceMs: Date.now() };
    }
    return seen !== null && Date.now() - seen.sinceMs >= TIMING.progress.silentMs;
  };
}
