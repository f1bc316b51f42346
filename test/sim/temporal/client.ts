/** The client of the SDK, as far as activities use it, over the model of Temporal. Searches do not lag. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { defaultPayloadConverter as payloads, mapFromPayloads, mapToPayloads } from '@temporalio/common';
import type { Ask } from '../worker/parts.ts';
import { matches, statusOf } from './list-query.ts';
import type { Run, Server } from './types.ts';

/** @param ask sends a request to the server, which answers */
export function createModelClient(server: Server, ask: Ask): Client {
  const handle = (workflowId: string, runId?: string) => {
    const existing = (): Run => {
      const run = runId === undefined ? server.find(workflowId) : server.runs.find((it) => it.runId === runId);
      if (run === undefined) throw new WorkflowNotFoundError('there is none in the model', workflowId, runId);
      return run;
    };
    return {
      describe: () => ask(() => descriptionOf(existing())),
      result: () => ask(() => resultOf(existing())),
      signal: (name: string, argument: unknown) =>
        ask(() => {
          const sent = server.signal({ workflowId }, name, [payloads.toPayload(argument)]);
          if (sent === 'delivered') return;
          throw new WorkflowNotFoundError(`no signal is possible: ${sent}`, workflowId, undefined);
        }),
    };
  };
  async function* list({ query }: { query: string }) {
    yield* await ask(() =>
      server.runs
        .filter((run) => matches(run, query))
        .toReversed()
        .map(descriptionOf),
    );
  }
  const start = (type: string, { workflowId, args, memo, workflowTaskTimeout }: Started) =>
    ask(() => {
      const before = server.find(workflowId);
      if (before !== undefined) server.terminate(before);
      server.start({
        ...{ workflowId, type, input: args.map((it) => payloads.toPayload(it)), taskTimeoutMs: workflowTaskTimeout },
        memo: mapToPayloads<string>(payloads, memo),
      });
    });
  return { workflow: { getHandle: handle, list, start } } as unknown as Client;
}

/** Whatever runs under this id is terminated. */
interface Started {
  workflowId: string;
  workflowIdConflictPolicy: 'TERMINATE_EXISTING';
  args: unknown[];
  memo: Record<string, unknown>;
  workflowTaskTimeout: number;
}

const descriptionOf = (run: Run) => ({
  workflowId: run.workflowId,
  runId: run.runId,
  type: run.type,
  memo: memoOf(run),
  historyLength: run.history.length,
  status: { name: statusOf(run).toUpperCase() },
  raw: { workflowExecutionInfo: { parentExecution: run.parent } },
});

function resultOf({ workflowId, outcome }: Run): unknown {
  if (outcome === null || outcome === 'terminated' || !('result' in outcome))
    throw new Error(`${workflowId} has no result`);
  return outcome.result === null ? undefined : payloads.fromPayload(outcome.result);
}

export const memoOf = <T = Record<string, unknown>>({ memo }: Run) => mapFromPayloads(payloads, memo) as T;
