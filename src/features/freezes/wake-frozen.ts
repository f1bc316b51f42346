/** Lets the runs and rollouts that wait for a freeze look again. One that is missed looks by itself a while later. */
import type { Client } from '@temporalio/client';
import pMap from 'p-map';
import { SIGNALS } from '../../contract/names.ts';
import { isAttributeError } from '../../client/transport/grpc-errors.ts';
import { IN_PARALLEL } from '../../client/session.ts';
import { acceptsSignals } from '../../client/lookups/accepts-signals.ts';

const MAX_WOKEN = 1_000;
/** A rollout is paused as long as it waits. */
const WAITING = `(BelayPhase = 'frozen' OR BelayPhase = 'paused') AND ExecutionStatus = 'Running'`;

/** @returns the workflow ids of those that received the signal */
export async function wakeFrozen(client: Client): Promise<string[]> {
  const ids = await waitingIds(client);
  const woken = await pMap(ids, (id) => wake(client, id).catch(() => false), IN_PARALLEL);
  return ids.filter((_, index) => woken[index]);
}

async function wake({ workflow }: Client, workflowId: string): Promise<boolean> {
  const handle = workflow.getHandle(workflowId);
  if (!(await acceptsSignals(handle, undefined))) return false;
  await handle.signal(SIGNALS.thawed);
  return true;
}

async function waitingIds({ workflow }: Client): Promise<string[]> {
  const ids: string[] = [];
  try {
    for await (const { workflowId } of workflow.list({ query: WAITING, pageSize: MAX_WOKEN })) {
      if (ids.push(workflowId) >= MAX_WOKEN) break;
    }
  } catch (error) {
    // Without the attributes, no search finds them.
    if (!isAttributeError(error)) throw error;
  }
  return ids;
}
