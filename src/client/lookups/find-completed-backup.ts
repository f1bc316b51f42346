/** Backups of ours that are complete, found in the past of their server's lock. */
import type { Client } from '@temporalio/client';
import type { BackupQuery } from '../../activities/index.ts';
import type { BackupEnd, BackupResult } from '../../contract/run.ts';
import { backupServerId } from '../../contract/ids/workflow-ids.ts';
import { quoted } from '../connection/list-filter.ts';

/** How far back: the newest may be too old, and older ones are older still. */
const MAX_LOOKED_AT = 5;

/** The newest completed backup of the server that began late enough, or null. */
export async function completedBackup(
  client: Client,
  { serverId, startedSince }: BackupQuery,
): Promise<BackupEnd | null> {
  const workflowId = backupServerId(serverId);
  const query = `WorkflowId = ${quoted(workflowId)} AND ExecutionStatus = 'Completed' AND StartTime >= '${startedSince}'`;
  let lookedAt = 0;
  for await (const { runId } of client.workflow.list({ query, pageSize: MAX_LOOKED_AT })) {
    const result = (await client.workflow.getHandle(workflowId, runId).result()) as BackupResult;
    if ((result.startedAt ?? '') >= startedSince) return { result, error: null };
    if ((lookedAt += 1) >= MAX_LOOKED_AT) return null;
  }
  return null;
}
