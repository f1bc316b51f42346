/** The client of the SDK, as far as activities use it, over the model of Temporal. */
import { WorkflowFailedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import {
  ApplicationFailure,
  defaultFailureConverter as failures,
  defaultPayloadConverter as payloads,
  mapFromPayloads,
  mapToPayloads,
} from '@temporalio/common';
import type { Sandboxes } from '../core/sdk.ts';
import { queryRun } from '../stack/query.ts';
import type { Ask } from '../worker/parts.ts';
import { matches, statusOf } from './list-query.ts';
import type { Run, Server, StartRequest } from './types.ts';

/**
 * @param ask sends a request to the server, which answers
 * @param sandboxes of the code that answers queries; without them, there are none
 * @param searchLagMs how long a search does not find an execution after its start
 */
export function createModelClient(
  server: Server,
  ask: Ask,
  { sandboxes, searchLagMs = 0 }: { sandboxes?: Sandboxes; searchLagMs?: number } = {},
): Client {
  const handle = (workflowId: string, runId?: string) => {
    const existing = (): Run => {
      const run = runId === undefined ? server.find(workflowId) : server.runs.find((it) => it.runId === runId);
      if (run === undefined) throw new WorkflowNotFoundError('there is none in the model', workflowId, runId);
      return run;
    };
    return {
      describe: () => ask(() => ({ ...descriptionOf(existing()), raw: rawOf(server, existing()) })),
      async query<T>(name: string): Promise<T> {
        const run = await ask(existing);
        // Temporal keeps the question until its first task is done, which takes longer than a lookup may.
        if (!run.history.some(({ kind }) => kind === 'taskCompleted'))
          throw ApplicationFailure.create({ message: 'Temporal did not answer in time' });
        return queryRun<T>(sandboxes!, run, name);
      },
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
        .filter((run) => server.nowMs() - run.startedMs >= searchLagMs && matches(run, query))
        .toReversed()
        .map(descriptionOf),
    );
  }
  async function start(type: string, { workflowId, args, memo, workflowTaskTimeout }: Started): Promise<void> {
    const request = {
      ...{ workflowId, type, input: args.map((it) => payloads.toPayload(it)), taskTimeoutMs: workflowTaskTimeout },
      memo: mapToPayloads<string>(payloads, memo),
    };
    // The SDK's core asks again for what Temporal refuses for a while.
    while (!(await ask(() => startInstead(server, request))));
  }
  return { workflow: { getHandle: handle, list, start } } as unknown as Client;
}

/** Temporal terminates no execution that is younger, to start another one in its place. */
const MIN_REUSE_MS = 1_000;

/** @returns whether Temporal took the request */
function startInstead(server: Server, request: StartRequest): boolean {
  const before = server.find(request.workflowId);
  if (before?.closedMs === null) {
    if (server.nowMs() - before.startedMs < MIN_REUSE_MS) return false;
    server.terminate(before);
  }
  server.start(request);
  return true;
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
});

const rawOf = ({ runs }: Server, { runId, firstRunId, parent }: Run) => ({
  workflowExecutionInfo: { parentExecution: parent, firstRunId },
  pendingChildren: runs
    .filter((it) => it.parent?.runId === runId && it.closedMs === null)
    .map((it) => ({ workflowId: it.workflowId, runId: it.runId, workflowTypeName: it.type })),
});

function resultOf({ workflowId, outcome }: Run): unknown {
  if (outcome === null || outcome === 'terminated') throw new Error(`${workflowId} has no result`);
  if ('failure' in outcome) {
    const cause = failures.failureToError(outcome.failure, payloads);
    throw new WorkflowFailedError('Workflow execution failed', cause, 'NON_RETRYABLE_FAILURE');
  }
  return outcome.result === null ? undefined : payloads.fromPayload(outcome.result);
}

export const memoOf = <T = Record<string, unknown>>({ memo }: Run) => mapFromPayloads(payloads, memo) as T;
