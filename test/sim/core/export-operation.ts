/** What a workflow asks for and what comes of it, in Temporal's own form: timers, activities, children and signals. */
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { HistoryEvent, Outcome } from './events.ts';
import { ABANDON, REJECT_DUPLICATE } from './commands.ts';
import { timestamp } from './sdk.ts';
import type { Run } from '../temporal/types.ts';

export const TASK_QUEUE = { name: 'belay', kind: 1 };
const NAMESPACE = { namespace: 'default', namespaceId: 'default' };

export const payloadList = (items: readonly Payload[]) => ({ payloads: [...items] });

/** @returns the type of the event and its attributes */
export function exportedOperation(event: HistoryEvent, run: Run): [string, object] {
  switch (event.kind) {
    case 'timerStarted':
      return [
        'TIMER_STARTED',
        {
          timerStartedEventAttributes: {
            timerId: String(event.seq),
            startToFireTimeout: timestamp(event.ms),
            workflowTaskCompletedEventId: event.taskId,
          },
        },
      ];
    case 'timerFired':
      return [
        'TIMER_FIRED',
        { timerFiredEventAttributes: { timerId: String(event.seq), startedEventId: event.startedId } },
      ];
    case 'timerCanceled': {
      const startedEventId = run.history.find((it) => it.kind === 'timerStarted' && it.seq === event.seq)?.id;
      return [
        'TIMER_CANCELED',
        {
          timerCanceledEventAttributes: {
            timerId: String(event.seq),
            startedEventId,
            workflowTaskCompletedEventId: event.taskId,
            identity: 'sim',
          },
        },
      ];
    }
    case 'activityScheduled':
      return [
        'ACTIVITY_TASK_SCHEDULED',
        {
          activityTaskScheduledEventAttributes: {
            activityId: String(event.seq),
            activityType: { name: event.type },
            taskQueue: TASK_QUEUE,
            header: {},
            input: payloadList(event.input),
            workflowTaskCompletedEventId: event.taskId,
          },
        },
      ];
    case 'activityStarted':
      return [
        'ACTIVITY_TASK_STARTED',
        {
          activityTaskStartedEventAttributes: {
            scheduledEventId: event.scheduledId,
            identity: 'sim',
            attempt: event.attempt,
          },
        },
      ];
    case 'activityClosed':
      return activityClosed(event, run);
    case 'childInitiated':
      return [
        'START_CHILD_WORKFLOW_EXECUTION_INITIATED',
        {
          startChildWorkflowExecutionInitiatedEventAttributes: {
            ...NAMESPACE,
            workflowId: event.workflowId,
            workflowType: { name: event.type },
            taskQueue: TASK_QUEUE,
            input: payloadList(event.input),
            header: {},
            memo: { fields: event.memo },
            searchAttributes: { indexedFields: event.attributes },
            workflowTaskCompletedEventId: event.taskId,
            parentClosePolicy: ABANDON,
            workflowIdReusePolicy: event.isOnceOnly ? REJECT_DUPLICATE : 1,
            workflowTaskTimeout: timestamp(event.taskTimeoutMs),
          },
        },
      ];
    case 'childStarted':
      return [
        'CHILD_WORKFLOW_EXECUTION_STARTED',
        {
          childWorkflowExecutionStartedEventAttributes: {
            ...NAMESPACE,
            initiatedEventId: event.initiatedId,
            workflowExecution: event.child,
            workflowType: { name: event.type },
            header: {},
          },
        },
      ];
    case 'childRefused':
      return [
        'START_CHILD_WORKFLOW_EXECUTION_FAILED',
        {
          startChildWorkflowExecutionFailedEventAttributes: {
            ...NAMESPACE,
            initiatedEventId: event.initiatedId,
            workflowId: event.workflowId,
            workflowType: { name: event.type },
            cause: 1,
            workflowTaskCompletedEventId: completedBefore(run, event.initiatedId),
          },
        },
      ];
    case 'childClosed':
      return childClosed(event);
    case 'childCancelRequested':
      return [
        'REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED',
        {
          requestCancelExternalWorkflowExecutionInitiatedEventAttributes: {
            ...NAMESPACE,
            workflowExecution: { workflowId: event.workflowId },
            childWorkflowOnly: true,
            workflowTaskCompletedEventId: event.taskId,
          },
        },
      ];
    case 'cancelSent': {
      const attributes = {
        ...NAMESPACE,
        initiatedEventId: event.initiatedId,
        workflowExecution: { workflowId: event.workflowId },
      };
      return event.isAbsent
        ? [
            'REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED',
            { requestCancelExternalWorkflowExecutionFailedEventAttributes: { ...attributes, cause: 1 } },
          ]
        : [
            'EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED',
            { externalWorkflowExecutionCancelRequestedEventAttributes: attributes },
          ];
    }
    case 'signalInitiated':
      return [
        'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED',
        {
          signalExternalWorkflowExecutionInitiatedEventAttributes: {
            ...NAMESPACE,
            workflowExecution: event.target,
            signalName: event.signal,
            input: payloadList(event.input),
            header: {},
            workflowTaskCompletedEventId: event.taskId,
          },
        },
      ];
    case 'signalSent': {
      const attributes = { ...NAMESPACE, initiatedEventId: event.initiatedId };
      return event.problem === null
        ? ['EXTERNAL_WORKFLOW_EXECUTION_SIGNALED', { externalWorkflowExecutionSignaledEventAttributes: attributes }]
        : [
            'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED',
            {
              signalExternalWorkflowExecutionFailedEventAttributes: {
                ...attributes,
                cause: event.problem === 'absent' ? 1 : 3,
              },
            },
          ];
    }
    case 'patched':
      return [
        'MARKER_RECORDED',
        {
          markerRecordedEventAttributes: {
            markerName: 'core_patch',
            details: {
              'patch-data': payloadList([defaultPayloadConverter.toPayload({ id: event.patchId, deprecated: false })]),
            },
            workflowTaskCompletedEventId: event.taskId,
          },
        },
      ];
    default:
      throw new Error(`no form for ${event.kind}`);
  }
}

const completedBefore = (run: Run, id: number) =>
  run.history.findLast((it) => it.kind === 'taskCompleted' && it.id < id)?.id ?? 0;
export const resultOf = (outcome: Outcome) =>
  'result' in outcome ? payloadList(outcome.result === null ? [] : [outcome.result]) : null;

function activityClosed(event: Extract<HistoryEvent, { kind: 'activityClosed' }>, run: Run): [string, object] {
  const { scheduledId, outcome, seq, timedOut } = event;
  const startedEventId = run.history.findLast((it) => it.kind === 'activityStarted' && it.seq === seq)?.id ?? 0;
  const attributes = { scheduledEventId: scheduledId, startedEventId, identity: 'sim' };
  if ('result' in outcome)
    return [
      'ACTIVITY_TASK_COMPLETED',
      { activityTaskCompletedEventAttributes: { ...attributes, result: resultOf(outcome) } },
    ];
  const { failure } = outcome;
  if (timedOut)
    return [
      'ACTIVITY_TASK_TIMED_OUT',
      { activityTaskTimedOutEventAttributes: { scheduledEventId: scheduledId, startedEventId, failure } },
    ];
  return ['ACTIVITY_TASK_FAILED', { activityTaskFailedEventAttributes: { ...attributes, failure } }];
}

function childClosed({ outcome, ...event }: Extract<HistoryEvent, { kind: 'childClosed' }>): [string, object] {
  const attributes = {
    ...NAMESPACE,
    workflowExecution: event.child,
    workflowType: { name: event.type },
    initiatedEventId: event.initiatedId,
    startedEventId: event.startedId,
  };
  if (outcome === 'terminated')
    return ['CHILD_WORKFLOW_EXECUTION_TERMINATED', { childWorkflowExecutionTerminatedEventAttributes: attributes }];
  if ('result' in outcome)
    return [
      'CHILD_WORKFLOW_EXECUTION_COMPLETED',
      { childWorkflowExecutionCompletedEventAttributes: { ...attributes, result: resultOf(outcome) } },
    ];
  return [
    'CHILD_WORKFLOW_EXECUTION_FAILED',
    { childWorkflowExecutionFailedEventAttributes: { ...attributes, failure: outcome.failure } },
  ];
}
