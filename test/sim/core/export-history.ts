/** A history of the model in Temporal's own form, so that the real core can replay it. */
import proto, { type temporal } from '@temporalio/proto';
import type { HistoryEvent } from './events.ts';
import { exportedOperation, payloadList, TASK_QUEUE } from './export-operation.ts';
import { timestamp } from './sdk.ts';
import { exportedUpdate } from './update-events.ts';
import type { Run } from '../temporal/types.ts';

type EventType = keyof typeof proto.temporal.api.enums.v1.EventType;

export function exportHistory(run: Run): temporal.api.history.v1.IHistory {
  const events = run.history.map((event) => {
    const [type, attributes] = exported(event, run);
    const eventType = proto.temporal.api.enums.v1.EventType[`EVENT_TYPE_${type}` as EventType];
    return { eventId: event.id, eventTime: timestamp(event.atMs), eventType, ...attributes, ...metadata(event) };
  });
  return proto.temporal.api.history.v1.History.fromObject({ events });
}

/**
 * The changes of core's behaviour that the history relies on. With the second one, core expects a search attribute beside
 * each marker of a patch, which the server of the model does not have.
 */
const coreFlagsOf = ({ history }: Run): number[] =>
  history.some(({ kind }) => kind === 'patched') ? [1, 3] : [1, 2, 3];

const metadata = (event: HistoryEvent) =>
  'summary' in event && event.summary !== null ? { userMetadata: { summary: event.summary } } : {};

function exported(event: HistoryEvent, run: Run): [string, object] {
  const { workflowId, runId, type: workflowType, firstRunId } = run;
  switch (event.kind) {
    case 'started':
      return [
        'WORKFLOW_EXECUTION_STARTED',
        {
          workflowExecutionStartedEventAttributes: {
            ...{
              workflowType: { name: workflowType },
              taskQueue: TASK_QUEUE,
              input: payloadList(event.input),
              workflowId,
              attempt: 1,
            },
            ...{
              originalExecutionRunId: runId,
              firstExecutionRunId: firstRunId,
              identity: 'sim',
              header: {},
              memo: { fields: event.memo },
              searchAttributes: { indexedFields: event.attributes },
            },
            workflowTaskTimeout: timestamp(event.taskTimeoutMs),
            ...(event.parent === null
              ? {}
              : {
                  parentWorkflowNamespace: 'default',
                  parentWorkflowExecution: { workflowId: event.parent.workflowId, runId: event.parent.runId },
                  parentInitiatedEventId: event.parent.initiatedId,
                }),
          },
        },
      ];
    case 'taskScheduled':
      return [
        'WORKFLOW_TASK_SCHEDULED',
        {
          workflowTaskScheduledEventAttributes: {
            taskQueue: TASK_QUEUE,
            startToCloseTimeout: timestamp(run.taskTimeoutMs),
            attempt: 1,
          },
        },
      ];
    case 'taskStarted':
      return [
        'WORKFLOW_TASK_STARTED',
        { workflowTaskStartedEventAttributes: { scheduledEventId: event.scheduledId, identity: 'sim' } },
      ];
    case 'taskCompleted':
      return [
        'WORKFLOW_TASK_COMPLETED',
        {
          workflowTaskCompletedEventAttributes: {
            scheduledEventId: event.scheduledId,
            startedEventId: event.startedId,
            identity: 'sim',
            sdkMetadata: { coreUsedFlags: coreFlagsOf(run), langUsedFlags: event.flags },
          },
        },
      ];
    case 'taskTimedOut':
      return [
        'WORKFLOW_TASK_TIMED_OUT',
        {
          workflowTaskTimedOutEventAttributes: {
            scheduledEventId: event.scheduledId,
            startedEventId: event.startedId,
            timeoutType: event.startedId === 0 ? 2 : 1,
          },
        },
      ];
    case 'taskFailed':
      return [
        'WORKFLOW_TASK_FAILED',
        {
          workflowTaskFailedEventAttributes: {
            scheduledEventId: event.scheduledId,
            startedEventId: event.startedId,
            cause: 1,
            failure: { message: 'UnhandledCommand' },
          },
        },
      ];
    case 'attributes':
      return [
        'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
        {
          upsertWorkflowSearchAttributesEventAttributes: {
            workflowTaskCompletedEventId: event.taskId,
            searchAttributes: { indexedFields: event.fields },
          },
        },
      ];
    case 'signaled':
      return [
        'WORKFLOW_EXECUTION_SIGNALED',
        {
          workflowExecutionSignaledEventAttributes: {
            signalName: event.signal,
            input: payloadList(event.input),
            identity: 'sim',
            header: {},
          },
        },
      ];
    case 'cancelRequested':
      return [
        'WORKFLOW_EXECUTION_CANCEL_REQUESTED',
        { workflowExecutionCancelRequestedEventAttributes: { identity: 'sim' } },
      ];
    case 'terminated':
      return ['WORKFLOW_EXECUTION_TERMINATED', { workflowExecutionTerminatedEventAttributes: { identity: 'sim' } }];
    case 'completed':
      return [
        'WORKFLOW_EXECUTION_COMPLETED',
        {
          workflowExecutionCompletedEventAttributes: {
            result: payloadList(event.result === null ? [] : [event.result]),
            workflowTaskCompletedEventId: event.taskId,
          },
        },
      ];
    case 'failed':
      return [
        'WORKFLOW_EXECUTION_FAILED',
        {
          workflowExecutionFailedEventAttributes: {
            failure: event.failure,
            workflowTaskCompletedEventId: event.taskId,
          },
        },
      ];
    case 'updateAccepted':
    case 'updateCompleted':
      return exportedUpdate(event);
    default:
      return exportedOperation(event, run);
  }
}
