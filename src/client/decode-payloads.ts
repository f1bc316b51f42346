/** Reads values in a history, which may be encrypted. Nothing else converts raw payloads. */
import type { Client } from '@temporalio/client';
import type { Payload, ProtoFailure } from '@temporalio/common';
import {
  decodeOptionalFailureToOptionalError,
  decodeOptionalSinglePayload,
} from '@temporalio/common/lib/internal-non-workflow/index.js';

/** Reads the input of a workflow with one call, however long the history is. @param runId default: the latest */
export async function inputOf<T>(client: Client, workflowId: string, runId?: string): Promise<T | null> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId: runId ?? null },
    maximumPageSize: 1,
  });
  return decoded<T>(client, history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads);
}

export async function decoded<T>(
  client: Pick<Client, 'options'>,
  payloads: Payload[] | null | undefined,
): Promise<T | null> {
  return (await decodeOptionalSinglePayload<T>(client.options.loadedDataConverter, payloads?.[0])) ?? null;
}

/** Workers that encrypt hide the message of a failure from Temporal. */
export async function decodedFailure(
  client: Pick<Client, 'options'>,
  failure: ProtoFailure | null | undefined,
): Promise<Error | null> {
  return (await decodeOptionalFailureToOptionalError(client.options.loadedDataConverter, failure)) ?? null;
}
