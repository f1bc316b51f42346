/** Finds completed backups that Belay made among the closed holders of their server's lock. */
import type { Client } from '@temporalio/client';
import type { BackupQuery } from '../../contract/activities.ts';
import type { BackupConclusion, OperationMemo } from '../../contract/operation.ts';
import type { BackupResult } from '../../contract/run.ts';
import { backupServerId } from '../../contract/ids.ts';
import { quoted } from '../list-filter.ts';

/** How many to check: if the newest ones are too old, earlier ones are as well. */
const MAX_LOOKED_AT = 5;

/** The newest completed backup of the server that started at `startedSince` or later; or null. */
export async function findCompletedBackup(
  client: Client,
  { serverId, startedSince }: BackupQuery,
): Promise<BackupConclusion | null> {
  const workflowId = backupServerId(serverId);
  const query = `WorkflowId = ${quoted(workflowId)} AND ExecutionStatus = 'Completed' AND StartTime >= '${startedSince}'`;
  let lookedAt = 0;
  for await (const { runId, memo } of client.workflow.list({ query, pageSize: MAX_LOOKED_AT })) {
    const result = (await client.workflow.getHandle(workflowId, runId).result()) as BackupResult;
    const { service = '' } = (memo ?? {}) as Partial<OperationMemo>;
    if ((result.startedAt ?? '') >= startedSince) return { service, result, error: null };
    if ((lookedAt += 1) >= MAX_LOOKED_AT) return null;
  }
  return null;
}
