/** A history of the real server in the form of the model, so that it can drive the simulator. */
import proto, { type temporal } from '@temporalio/proto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { CommandedEvent, Failure, HistoryEvent, Incoming, Outcome, TaskEvent } from './events.ts';
import { REJECT_DUPLICATE } from './commands.ts';
import { importedUpdate } from './update-events.ts';
import { durationMs, type ExecutionFacts } from './sdk.ts';

type Recorded = temporal.api.history.v1.IHistoryEvent;
type Body = Incoming | CommandedEvent | TaskEvent;

/** SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED_CAUSE_SIGNAL_COUNT_LIMIT_EXCEEDED */
const SIGNAL_LIMIT = 3;

const numbered = (value: unknown): number => Number(value ?? 0);
const inputOf = (list: temporal.api.common.v1.IPayloads | null | undefined) => (list?.payloads ?? []) as Payload[];
const memoOf = (memo: temporal.api.common.v1.IMemo | null | undefined) => memo?.fields ?? {};

/** @throws Error for an event that the model does not know */
export function importHistory(workflowId: string, { events }: temporal.api.history.v1.IHistory) {
  const recorded = events ?? [];
  const numbers = new Numbers();
  const history = recorded.filter(isOfCode).map((event): HistoryEvent => {
    if (event.workflowTaskCompletedEventAttributes) numbers.taskId = numbered(event.eventId);
    const body = bodyOf(event, numbers);
    if (body === null) throw new Error(`${workflowId}: the simulator does not know ${nameOf(event)}`);
    return { ...body, id: numbered(event.eventId), atMs: durationMs(event.eventTime) };
  });
  return { history, facts: factsOf(workflowId, recorded) };
}

/** Core adds a search attribute to each marker of a patch by itself. */
const isOfCode = ({ upsertWorkflowSearchAttributesEventAttributes: upserted }: Recorded): boolean =>
  !Object.hasOwn(upserted?.searchAttributes?.indexedFields ?? {}, 'TemporalChangeVersion');

const nameOf = ({ eventType }: Recorded): string => proto.temporal.api.enums.v1.EventType[eventType ?? 0] ?? 'an event';

function factsOf(workflowId: string, recorded: Recorded[]): ExecutionFacts {
  const [first] = recorded;
  const started = first?.workflowExecutionStartedEventAttributes;
  const parent = started?.parentWorkflowExecution;
  const resets = recorded.flatMap((event) => event.workflowTaskFailedEventAttributes?.newRunId || []);
  const runId = resets.at(-1) ?? started?.originalExecutionRunId ?? '';
  return {
    ...{
      workflowId,
      runId,
      firstRunId: started?.firstExecutionRunId ?? runId,
      type: started?.workflowType?.name ?? '',
    },
    startedMs: durationMs(first?.eventTime),
    taskTimeoutMs: durationMs(started?.workflowTaskTimeout),
    parent: parent ? { workflowId: parent.workflowId ?? '', runId: parent.runId ?? '' } : null,
  };
}

/** The numbers that workflow code gives its children and signals. Histories have only the ids of events. */
class Numbers {
  readonly #begun = new Map<number, { seq: number; type: string }>();
  readonly #children = new Map<string, number>();
  #childCount = 0;
  #signalCount = 0;
  /** Of the task that was completed last. */
  taskId = 0;

  child(id: number, workflowId: string, type: string): number {
    this.#childCount += 1;
    this.#children.set(workflowId, this.#childCount);
    return this.begun(id, this.#childCount, type);
  }

  signal(id: number): number {
    this.#signalCount += 1;
    return this.begun(id, this.#signalCount, '');
  }

  /** @param id of the event that began it */
  begun(id: number, seq: number, type: string): number {
    this.#begun.set(id, { seq, type });
    return seq;
  }

  ofChild(workflowId: string): number {
    return this.#children.get(workflowId) ?? 0;
  }

  ofEvent(id: number): number {
    return this.#begun.get(id)?.seq ?? 0;
  }

  typeOf(id: number): string {
    return this.#begun.get(id)?.type ?? '';
  }
}

function bodyOf(event: Recorded, numbers: Numbers): Body | null {
  const ofUpdate = importedUpdate(event, numbers.taskId);
  return ofTask(event) ?? ofOutside(event) ?? ofUpdate ?? ofCommand(event, numbers) ?? ofOutcome(event, numbers);
}

function ofTask(event: Recorded): Body | null {
  const { workflowTaskScheduledEventAttributes: scheduled, workflowTaskStartedEventAttributes: started } = event;
  const { workflowTaskCompletedEventAttributes: completed, workflowTaskTimedOutEventAttributes: late } = event;
  const { workflowTaskFailedEventAttributes: failed } = event;
  if (scheduled) return { kind: 'taskScheduled', stickyTo: null };
  if (started) return { kind: 'taskStarted', scheduledId: numbered(started.scheduledEventId) };
  const ids = (it: { scheduledEventId?: unknown; startedEventId?: unknown }) => ({
    scheduledId: numbered(it.scheduledEventId),
    startedId: numbered(it.startedEventId),
  });
  if (completed) return { kind: 'taskCompleted', ...ids(completed), flags: completed.sdkMetadata?.langUsedFlags ?? [] };
  if (late) return { kind: 'taskTimedOut', ...ids(late) };
  return failed ? { kind: 'taskFailed', ...ids(failed) } : null;
}

function ofOutside(event: Recorded): Body | null {
  const { workflowExecutionStartedEventAttributes: started, workflowExecutionSignaledEventAttributes: signaled } =
    event;
  if (started) {
    const { workflowType, input, memo, searchAttributes, parentWorkflowExecution: parent } = started;
    const initiatedId = numbered(started.parentInitiatedEventId);
    return {
      ...{ kind: 'started', type: workflowType?.name ?? '', input: inputOf(input), memo: memoOf(memo) },
      attributes: searchAttributes?.indexedFields ?? {},
      parent: parent ? { workflowId: parent.workflowId ?? '', runId: parent.runId ?? '', initiatedId } : null,
      taskTimeoutMs: durationMs(started.workflowTaskTimeout),
    };
  }
  if (signaled) return { kind: 'signaled', signal: signaled.signalName ?? '', input: inputOf(signaled.input) };
  if (event.workflowExecutionCancelRequestedEventAttributes) return { kind: 'cancelRequested' };
  return event.workflowExecutionTerminatedEventAttributes ? { kind: 'terminated' } : null;
}

function ofCommand(event: Recorded, numbers: Numbers): Body | null {
  const id = numbered(event.eventId);
  const summary = (event.userMetadata?.summary as Payload | null | undefined) ?? null;
  const {
    timerStartedEventAttributes: timer,
    timerCanceledEventAttributes: canceled,
    activityTaskScheduledEventAttributes: activity,
    startChildWorkflowExecutionInitiatedEventAttributes: child,
    requestCancelExternalWorkflowExecutionInitiatedEventAttributes: cancel,
    signalExternalWorkflowExecutionInitiatedEventAttributes: signal,
    upsertWorkflowSearchAttributesEventAttributes: attributes,
    markerRecordedEventAttributes: marker,
    workflowExecutionCompletedEventAttributes: completed,
    workflowExecutionFailedEventAttributes: failed,
  } = event;
  const of = (it: { workflowTaskCompletedEventId?: unknown }) => ({
    taskId: numbered(it.workflowTaskCompletedEventId),
  });
  if (timer) {
    const ms = durationMs(timer.startToFireTimeout);
    return { kind: 'timerStarted', seq: numbered(timer.timerId), ms, summary, ...of(timer) };
  }
  if (canceled) return { kind: 'timerCanceled', seq: numbered(canceled.timerId), ...of(canceled) };
  if (activity) {
    const type = activity.activityType?.name ?? '';
    const seq = numbers.begun(id, numbered(activity.activityId), type);
    return {
      kind: 'activityScheduled',
      seq,
      type,
      input: inputOf(activity.input),
      options: null,
      summary,
      ...of(activity),
    };
  }
  if (child) {
    const [workflowId, type] = [child.workflowId ?? '', child.workflowType?.name ?? ''];
    const seq = numbers.child(id, workflowId, type);
    return {
      ...{ kind: 'childInitiated', seq, type, workflowId, input: inputOf(child.input) },
      attributes: child.searchAttributes?.indexedFields ?? {},
      ...{ memo: memoOf(child.memo), taskTimeoutMs: durationMs(child.workflowTaskTimeout), summary, ...of(child) },
      isOnceOnly: Number(child.workflowIdReusePolicy) === REJECT_DUPLICATE,
    };
  }
  if (cancel) {
    const workflowId = cancel.workflowExecution?.workflowId ?? '';
    const seq = numbers.begun(id, numbers.ofChild(workflowId), '');
    return { kind: 'childCancelRequested', seq, workflowId, ...of(cancel) };
  }
  if (signal) {
    const { workflowExecution: to } = signal;
    const target = { workflowId: to?.workflowId ?? '', runId: to?.runId ?? '' };
    const name = signal.signalName ?? '';
    return {
      kind: 'signalInitiated',
      seq: numbers.signal(id),
      target,
      signal: name,
      input: inputOf(signal.input),
      ...of(signal),
    };
  }
  if (marker) {
    const [data] = inputOf(marker.details?.['patch-data']);
    return { kind: 'patched', patchId: defaultPayloadConverter.fromPayload<{ id: string }>(data!).id, ...of(marker) };
  }
  if (attributes)
    return { kind: 'attributes', fields: attributes.searchAttributes?.indexedFields ?? {}, ...of(attributes) };
  if (completed) return { kind: 'completed', result: inputOf(completed.result)[0] ?? null, ...of(completed) };
  return failed ? { kind: 'failed', failure: failed.failure ?? {}, ...of(failed) } : null;
}

function ofOutcome(event: Recorded, numbers: Numbers): Body | null {
  const { timerFiredEventAttributes: fired, activityTaskStartedEventAttributes: begun } = event;
  if (fired) return { kind: 'timerFired', seq: numbered(fired.timerId), startedId: numbered(fired.startedEventId) };
  if (begun) {
    const scheduledId = numbered(begun.scheduledEventId);
    return { kind: 'activityStarted', seq: numbers.ofEvent(scheduledId), scheduledId, attempt: begun.attempt ?? 1 };
  }
  return ofActivity(event, numbers) ?? ofChild(event, numbers) ?? ofSignal(event, numbers);
}

type Completed = { result?: temporal.api.common.v1.IPayloads | null };
type Failed = { failure?: Failure | null };

function outcomeOf(completed: Completed | null | undefined, failed: Failed | null | undefined): Outcome | null {
  if (completed) return { result: inputOf(completed.result)[0] ?? null };
  return failed ? { failure: failed.failure ?? {} } : null;
}

function ofActivity(event: Recorded, numbers: Numbers): Body | null {
  const { activityTaskCompletedEventAttributes: completed, activityTaskFailedEventAttributes: failed } = event;
  const { activityTaskTimedOutEventAttributes: late } = event;
  const it = completed ?? failed ?? late;
  if (!it) return null;
  const scheduledId = numbered(it.scheduledEventId);
  const outcome = outcomeOf(completed, failed ?? late) ?? { failure: {} };
  const ids = { seq: numbers.ofEvent(scheduledId), type: numbers.typeOf(scheduledId), scheduledId };
  return { kind: 'activityClosed', ...ids, startedId: numbered(it.startedEventId), outcome, timedOut: late != null };
}

function ofChild(event: Recorded, numbers: Numbers): Body | null {
  const {
    childWorkflowExecutionStartedEventAttributes: started,
    startChildWorkflowExecutionFailedEventAttributes: refused,
    childWorkflowExecutionCompletedEventAttributes: completed,
    childWorkflowExecutionFailedEventAttributes: failed,
    childWorkflowExecutionTerminatedEventAttributes: terminated,
  } = event;
  if (refused) {
    const initiatedId = numbered(refused.initiatedEventId);
    const { workflowId, workflowType } = refused;
    const type = workflowType?.name ?? '';
    return { kind: 'childRefused', seq: numbers.ofEvent(initiatedId), initiatedId, workflowId: workflowId ?? '', type };
  }
  const it = started ?? completed ?? failed ?? terminated;
  if (!it) return null;
  const initiatedId = numbered(it.initiatedEventId);
  const { workflowId, runId } = it.workflowExecution ?? {};
  const child = { workflowId: workflowId ?? '', runId: runId ?? '' };
  const ids = { seq: numbers.ofEvent(initiatedId), initiatedId, child, type: it.workflowType?.name ?? '' };
  if (started) return { kind: 'childStarted', ...ids };
  const outcome = outcomeOf(completed, failed) ?? 'terminated';
  return {
    kind: 'childClosed',
    ...ids,
    startedId: numbered((completed ?? failed ?? terminated)?.startedEventId),
    outcome,
  };
}

function ofSignal(event: Recorded, numbers: Numbers): Body | null {
  const {
    externalWorkflowExecutionSignaledEventAttributes: sent,
    signalExternalWorkflowExecutionFailedEventAttributes: unsent,
    externalWorkflowExecutionCancelRequestedEventAttributes: cancelled,
    requestCancelExternalWorkflowExecutionFailedEventAttributes: uncancelled,
  } = event;
  const signal = sent ?? unsent;
  if (signal) {
    const initiatedId = numbered(signal.initiatedEventId);
    const problem = unsent ? (Number(unsent.cause) === SIGNAL_LIMIT ? 'limit' : 'absent') : null;
    return { kind: 'signalSent', seq: numbers.ofEvent(initiatedId), initiatedId, problem };
  }
  const cancel = cancelled ?? uncancelled;
  if (!cancel) return null;
  const initiatedId = numbered(cancel.initiatedEventId);
  const workflowId = cancel.workflowExecution?.workflowId ?? '';
  return {
    kind: 'cancelSent',
    seq: numbers.ofEvent(initiatedId),
    initiatedId,
    workflowId,
    isAbsent: uncancelled != null,
  };
}
