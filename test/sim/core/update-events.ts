/** The events of updates in Temporal's own form. An update that is rejected has none. */
import type { Payload } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import type { CommandedEvent } from './events.ts';
import { payloadList, resultOf } from './export-operation.ts';

type UpdateEvent = Extract<CommandedEvent, { kind: 'updateAccepted' | 'updateCompleted' }>;

/** @returns the type of the event and its attributes */
export function exportedUpdate(event: UpdateEvent): [string, object] {
  const { updateId } = event;
  const meta = { updateId, identity: 'sim' };
  if (event.kind === 'updateCompleted') {
    const { acceptedId, outcome } = event;
    const value = 'failure' in outcome ? { failure: outcome.failure } : { success: resultOf(outcome) };
    const attributes = { meta, acceptedEventId: acceptedId, outcome: value };
    return ['WORKFLOW_EXECUTION_UPDATE_COMPLETED', { workflowExecutionUpdateCompletedEventAttributes: attributes }];
  }
  const { request, afterId } = event;
  const input = { header: {}, name: request?.name ?? '', args: payloadList(request?.input ?? []) };
  const attributes = {
    protocolInstanceId: updateId,
    acceptedRequestMessageId: `${updateId}/request`,
    acceptedRequestSequencingEventId: afterId,
    acceptedRequest: { meta, input },
  };
  return ['WORKFLOW_EXECUTION_UPDATE_ACCEPTED', { workflowExecutionUpdateAcceptedEventAttributes: attributes }];
}

/**
 * Null for another event.
 * @param taskId of the task that was completed last: these events do not name it
 */
export function importedUpdate(event: temporal.api.history.v1.IHistoryEvent, taskId: number): UpdateEvent | null {
  const { workflowExecutionUpdateAcceptedEventAttributes: accepted } = event;
  const { workflowExecutionUpdateCompletedEventAttributes: completed } = event;
  if (accepted) {
    const { protocolInstanceId, acceptedRequest, acceptedRequestSequencingEventId: afterId } = accepted;
    const updateId = protocolInstanceId ?? '';
    const { name, args } = acceptedRequest?.input ?? {};
    const request = { updateId, name: name ?? '', input: (args?.payloads ?? []) as Payload[] };
    return { kind: 'updateAccepted', updateId, request, afterId: Number(afterId ?? 0), taskId };
  }
  if (!completed) return null;
  const { meta, acceptedEventId, outcome } = completed;
  const result = (outcome?.success?.payloads?.[0] as Payload | undefined) ?? null;
  return {
    ...{ kind: 'updateCompleted', updateId: meta?.updateId ?? '', acceptedId: Number(acceptedEventId ?? 0), taskId },
    outcome: outcome?.failure ? { failure: outcome.failure } : { result },
  };
}
