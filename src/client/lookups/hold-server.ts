/** Telling rollouts in flight that they are not to begin with a server. */
import type { Client } from '@temporalio/client';
import { HOLD_SIGNAL, ROLLOUT_TYPE, type Hold, type HoldInput, type RolloutMemo } from '../../contract/rollout.ts';
import { createSignaller } from './throttled-signal.ts';

/** One for each worker. */
export function createHolder(client: Client): (input: HoldInput) => Promise<string[]> {
  const signal = createSignaller<Hold>(client, HOLD_SIGNAL, ({ serverId }) => serverId);
  return async ({ hold, except }) => {
    const ids: string[] = [];
    const query = `WorkflowType = '${ROLLOUT_TYPE}' AND ExecutionStatus = 'Running'`;
    for await (const { workflowId, memo } of client.workflow.list({ query })) {
      const { servers } = (memo ?? {}) as Partial<RolloutMemo>;
      // One that somebody started in the UI doesn't say.
      const mayHaveIt = servers?.includes(hold.serverId) ?? true;
      if (mayHaveIt && !except.includes(workflowId)) ids.push(workflowId);
    }
    const told = await Promise.all(ids.map((id) => signal(id, hold)));
    return ids.filter((_, index) => told[index]);
  };
}
