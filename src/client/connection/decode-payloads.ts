/** Reads values in a history, which may be encrypted: nothing else converts raw payloads. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { decodeOptionalSinglePayload } from '@temporalio/common/lib/internal-non-workflow/index.js';

/** The input of a workflow. */
export async function inputOf<T>(client: Client, handle: WorkflowHandle): Promise<T | null> {
  const { events } = await handle.fetchHistory();
  return decoded<T>(client, events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads);
}

/** The first of the payloads. */
export async function decoded<T>(client: Client, payloads: Payload[] | null | undefined): Promise<T | null> {
  return (await decodeOptionalSinglePayload<T>(client.options.loadedDataConverter, payloads?.[0])) ?? null;
}
