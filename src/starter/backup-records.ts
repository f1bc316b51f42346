/** What is noted of backups, found by ids alone: consistent at once, where a search would lag. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { BackupRecord } from '../event-contract.ts';
import { backupRecordId, sharedBackupId } from '../ids.ts';

/** A backup that began longer ago is over, or nobody should rest on it. */
const MAX_SHARED_AGE_MS = 24 * 3_600_000;

/** Of a backup that one of our runs made or rests on; null of any other. */
export async function backupRecord(client: Client, backupId: string): Promise<BackupRecord | null> {
  return recordIn(client, backupRecordId(backupId));
}

/** The newest backup of the server that an event told of; null where there is none, or it is ours: those have a lock. */
export async function sharedBackup(client: Client, serverId: string): Promise<BackupRecord | null> {
  const record = await recordIn(client, sharedBackupId(serverId));
  if (record === null || Date.now() - Date.parse(record.startedAt) > MAX_SHARED_AGE_MS) return null;
  const ours = (await backupRecord(client, record.backupId))?.ours === true;
  return ours ? null : record;
}

async function recordIn(client: Client, workflowId: string): Promise<BackupRecord | null> {
  try {
    const { memo } = await client.workflow.getHandle(workflowId).describe();
    return (memo as { record?: BackupRecord } | undefined)?.record ?? null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
