/** What is noted of backups, found by ids alone: consistent at once, where a search would lag. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { BackupRecord } from '../../contract/event.ts';
import { backupRecordId, failedBackupId, restedBackupId, sharedBackupId } from '../../contract/ids/workflow-ids.ts';

/** The servers whose operations or runs wait for this backup; none for one that is nothing to us. */
export async function serversOf(client: Client, backupId: string): Promise<string[]> {
  const records = await Promise.all([
    recordIn(client, backupRecordId(backupId)),
    recordIn(client, restedBackupId(backupId)),
  ]);
  return [...new Set(records.flatMap((record) => (record === null ? [] : [record.serverId])))];
}

/**
 * The newest backup of the server that an event told of; null where there is none, where an event said that it failed,
 * or where it is ours: those have a lock.
 */
export async function sharedBackup(client: Client, serverId: string): Promise<BackupRecord | null> {
  const record = await recordIn(client, sharedBackupId(serverId));
  if (record === null) return null;
  const against = await Promise.all([
    recordIn(client, backupRecordId(record.backupId)),
    recordIn(client, failedBackupId(record.backupId)),
  ]);
  return against.every((it) => it === null) ? record : null;
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
