/** What the commands of workflow code ask for. A command that Belay does not use is an error: model it first. */
import type { Payload } from '@temporalio/common';
import type { coresdk } from '@temporalio/proto';
import type { ActivityOptions, Attributes, Commanded, Failure } from './events.ts';
import { durationMs, type Command } from './sdk.ts';

/** What becomes of a child when its parent closes, as in the API. */
export const ABANDON = 2;

/** Of an update: before it is accepted, it leaves no trace; after that, it fails. */
export interface Rejected {
  kind: 'rejected';
  updateId: string;
  failure: Failure;
}

export type Asked = Commanded | Rejected;

type RetryPolicy = coresdk.workflow_commands.IScheduleActivity['retryPolicy'];

export function readCommand(command: Command): Asked {
  const summary = (command.userMetadata?.summary as Payload | null | undefined) ?? null;
  const {
    startTimer,
    cancelTimer,
    scheduleActivity,
    startChildWorkflowExecution: child,
    cancelChildWorkflowExecution: cancelChild,
    signalExternalWorkflowExecution: signal,
    upsertWorkflowSearchAttributes: attributes,
    completeWorkflowExecution: complete,
    failWorkflowExecution: fail,
    cancelWorkflowExecution: cancelled,
    setPatchMarker: patch,
    updateResponse,
  } = command;
  if (startTimer)
    return { kind: 'timerStarted', seq: startTimer.seq!, ms: durationMs(startTimer.startToFireTimeout), summary };
  if (cancelTimer) return { kind: 'timerCanceled', seq: cancelTimer.seq! };
  if (scheduleActivity) {
    const { seq, activityType, arguments: input } = scheduleActivity;
    const options = activityOptions(scheduleActivity);
    return {
      kind: 'activityScheduled',
      seq: seq!,
      type: activityType!,
      input: input ?? [],
      options,
      summary,
    };
  }
  if (child) {
    const { seq, workflowId, workflowType, input, memo, searchAttributes, workflowTaskTimeout, workflowIdReusePolicy } =
      child;
    if (Number(child.parentClosePolicy) !== ABANDON)
      throw new Error('the simulator knows only children that outlive their parent');
    return {
      ...{ kind: 'childInitiated', seq: seq!, type: workflowType!, workflowId: workflowId!, summary },
      ...{
        input: input ?? [],
        memo: memo ?? {},
        attributes: fieldsOf(searchAttributes),
        taskTimeoutMs: durationMs(workflowTaskTimeout) || 10_000,
        isOnceOnly: Number(workflowIdReusePolicy) === REJECT_DUPLICATE,
      },
    };
  }
  if (cancelChild) return { kind: 'childCancelRequested', seq: cancelChild.childWorkflowSeq!, workflowId: '' };
  if (signal) {
    const { seq, workflowExecution, signalName, args } = signal;
    const target = { workflowId: workflowExecution?.workflowId ?? '', runId: workflowExecution?.runId ?? '' };
    return { kind: 'signalInitiated', seq: seq!, target, signal: signalName!, input: args ?? [] };
  }
  if (attributes)
    return {
      kind: 'attributes',
      fields: fieldsOf(attributes.searchAttributes),
    };
  if (patch) return { kind: 'patched', patchId: patch.patchId! };
  if (complete) return { kind: 'completed', result: (complete.result as Payload | undefined) ?? null };
  if (fail) return { kind: 'failed', failure: fail.failure! };
  // Only its status tells it from a failed one.
  if (cancelled) return { kind: 'failed', failure: { message: 'cancelled', canceledFailureInfo: {} } };
  if (updateResponse) return ofUpdate(updateResponse);
  throw new Error(`the simulator does not know this command: ${JSON.stringify(command).slice(0, 300)}`);
}

/** The SDK's own types lack the list of fields. */
const fieldsOf = (attributes: unknown): Attributes =>
  ((attributes as { indexedFields?: Attributes } | null | undefined)?.indexedFields ?? attributes ?? {}) as Attributes;

/** WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE */
export const REJECT_DUPLICATE = 3;

function ofUpdate(response: coresdk.workflow_commands.IUpdateResponse): Asked {
  const { protocolInstanceId, accepted, completed, rejected } = response;
  const updateId = protocolInstanceId!;
  if (accepted) return { kind: 'updateAccepted', updateId, request: null, afterId: 0 };
  if (rejected) return { kind: 'rejected', updateId, failure: rejected };
  return { kind: 'updateCompleted', updateId, acceptedId: 0, outcome: { result: completed as Payload } };
}

function activityOptions(command: coresdk.workflow_commands.IScheduleActivity): ActivityOptions {
  const { scheduleToCloseTimeout, scheduleToStartTimeout, startToCloseTimeout, heartbeatTimeout, retryPolicy } =
    command;
  const orNever = (ms: number) => (ms === 0 ? Infinity : ms);
  return {
    scheduleToCloseMs: orNever(durationMs(scheduleToCloseTimeout)),
    scheduleToStartMs: orNever(durationMs(scheduleToStartTimeout)),
    startToCloseMs: orNever(durationMs(startToCloseTimeout)),
    heartbeatMs: orNever(durationMs(heartbeatTimeout)),
    retry: retryOptions(retryPolicy),
    isEager: command.doNotEagerlyExecute !== true,
  };
}

/** With the server's defaults. */
function retryOptions(policy: RetryPolicy): ActivityOptions['retry'] {
  const initialMs = durationMs(policy?.initialInterval) || 1_000;
  return {
    initialMs,
    coefficient: policy?.backoffCoefficient || 2,
    maximumMs: durationMs(policy?.maximumInterval) || 100 * initialMs,
    attempts: policy?.maximumAttempts || Infinity,
    nonRetryable: policy?.nonRetryableErrorTypes ?? [],
  };
}
