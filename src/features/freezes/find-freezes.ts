/** Finds ad-hoc freezes by their ids, which is consistent at once. A search would lag. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import pMap from 'p-map';
import type { AdHocFreeze, FreezeMemo, RunningFreeze } from './shapes.ts';
import { isRecord } from '../../contract/plain-object.ts';
import { IN_PARALLEL } from '../../client/session.ts';

/** @returns those that run now */
export async function findFreezes(client: Client, workflowIds: readonly string[]): Promise<RunningFreeze[]> {
  const found = await pMap(workflowIds, (id) => findFreeze(client, id), IN_PARALLEL);
  return found.filter((it) => it !== null);
}

/** @returns null if it does not run. @throws if Temporal does not tell, or its memo cannot be decrypted */
async function findFreeze({ workflow }: Client, workflowId: string): Promise<RunningFreeze | null> {
  try {
    const { status, memo } = await workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' ? { workflowId, freeze: freezeIn(memo) } : null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** One that was started from the UI may have another memo, or none. */
export function freezeIn(memo: Record<string, unknown> | undefined): AdHocFreeze | null {
  const { freeze } = (memo ?? {}) as Partial<FreezeMemo>;
  if (!isRecord(freeze)) return null;
  const { until, reason, by, blocks } = freeze as Partial<AdHocFreeze>;
  const isText = [until, reason, by].every((it) => typeof it === 'string');
  return isText && Array.isArray(blocks) && !Number.isNaN(Date.parse(until!)) ? freeze : null;
}
