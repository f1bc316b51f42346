/** Reads the input of a workflow from its history. */
import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';

export async function inputOf<T>(handle: WorkflowHandle): Promise<T | null> {
  const { events } = await handle.fetchHistory();
  return decoded<T>(events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads);
}

export function decoded<T>(payloads: Payload[] | null | undefined): T | null {
  const [payload] = payloads ?? [];
  return payload === undefined ? null : defaultPayloadConverter.fromPayload<T>(payload);
}
