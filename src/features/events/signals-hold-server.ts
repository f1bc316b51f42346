/** Signals the rollouts in flight to hold a server. */
import type { Client } from '@temporalio/client';
import { HOLD_SIGNAL, ROLLOUT_TYPE } from '../../contract/names.ts';
import type { Hold, HoldInput, RolloutMemo } from '../rollouts/shapes.ts';
import { isOfService } from '../../client/lookups/accepts-signals.ts';
import { createThrottledSignal, type SignalClock } from '../../client/lookups/signals.ts';

/** Create one per worker, because it limits the rate of signals. */
export function createHoldServer(client: Client, clock?: SignalClock): (input: HoldInput) => Promise<string[]> {
  const signal = createThrottledSignal<Hold>(client, HOLD_SIGNAL, ({ serverId }) => serverId, undefined, clock);
  return async ({ hold, excludeWorkflowIds }) => {
    const ids: string[] = [];
    const query = `WorkflowType = '${ROLLOUT_TYPE}' AND ExecutionStatus = 'Running'`;
    for await (const rollout of client.workflow.list({ query })) {
      const { workflowId, memo } = rollout;
      const { servers } = (memo ?? {}) as Partial<RolloutMemo>;
      // A rollout started from the UI has no list of servers.
      const mayHaveIt = servers?.includes(hold.serverId) ?? true;
      if (mayHaveIt && isOfService(rollout, hold.services) && !excludeWorkflowIds.includes(workflowId))
        ids.push(workflowId);
    }
    const signalled = await Promise.all(ids.map((id) => signal(id, hold)));
    return ids.filter((_, index) => signalled[index]);
  };
}
