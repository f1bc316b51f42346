/** Finds a run that no worker answers for. A worker that was killed counts as one that polls for a minute or so. */
import { Client, type ConnectionLike } from '@temporalio/client';
import { TIMING } from '../../contract/timing.ts';
import { QUERIES, ROLLOUT_TYPE, RUN_TYPES } from '../../contract/names.ts';
import { quoted } from '../../client/list-filter.ts';
import type { Session } from '../../client/session.ts';
import { codeOf, GRPC, grpcCause } from '../../client/transport/grpc-errors.ts';

const MOST_ASKED = 3;

/** Asks the newest runs in flight, as `status` does. @returns the id of one if none of them is answered for, else null */
export async function findSilentRun(
  connection: ConnectionLike,
  { namespace, taskQueue }: Pick<Session, 'namespace' | 'taskQueue'>,
): Promise<string | null> {
  const client = new Client({ connection, namespace });
  const query = [
    `WorkflowType IN (${[...RUN_TYPES, ROLLOUT_TYPE].map(quoted).join(', ')})`,
    `TaskQueue = ${quoted(taskQueue)}`,
    `ExecutionStatus = 'Running'`,
  ].join(' AND ');
  const asked: { workflowId: string; runId: string }[] = [];
  for await (const run of client.workflow.list({ query, pageSize: MOST_ASKED })) {
    if (asked.push(run) >= MOST_ASKED) break;
  }
  const answered = await Promise.all(
    asked.map(({ workflowId, runId }) =>
      client
        .withDeadline(Date.now() + TIMING.client.queryMs, () =>
          client.workflow.getHandle(workflowId, runId).query(QUERIES.progress),
        )
        .then(
          () => true,
          // A worker fails at it again and again, so there is one.
          (error: unknown) => codeOf(grpcCause(error)) === GRPC.failedPrecondition,
        ),
    ),
  );
  return answered.includes(true) ? null : (asked[0]?.workflowId ?? null);
}
