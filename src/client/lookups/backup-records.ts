/** Reads backup records by id, which is consistent at once. A search would lag. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { BackupRecord, ServersQuery, SharedBackupQuery } from '../../features/events/shapes.ts';
import { backupRecordId, failedBackupId, adoptedBackupId, sharedBackupId } from '../../contract/ids.ts';
import { plainText } from '../../contract/safe-text.ts';

/**
 * The servers whose operations or runs wait for this backup. Fails until there is a record: an event may arrive before the
 * answer to the request that made the backup.
 */
export async function findServersOfBackup(client: Client, { backupId, services }: ServersQuery): Promise<string[]> {
  const records = await Promise.all([
    recordIn(client, backupRecordId(backupId)),
    recordIn(client, adoptedBackupId(backupId)),
  ]);
  const servers = [...new Set(records.flatMap((it) => (isRecordOf(it, services) ? [it.serverId] : [])))];
  if (servers.length > 0) return servers;
  throw ApplicationFailure.create({
    type: 'NoRecord',
    message: `no run waits for backup ${plainText(backupId)}`,
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** The record of a backup that Belay made; null if Belay did not make it. */
export async function findBackupRecord(client: Client, backupId: string): Promise<BackupRecord | null> {
  return recordIn(client, backupRecordId(backupId));
}

/**
 * The newest backup of the server that an event reported. Null if there is none, if an event reported that it failed,
 * or if Belay made it: then it is shared through its lock.
 */
export async function findSharedBackup(
  client: Client,
  { serverId, services }: SharedBackupQuery,
): Promise<BackupRecord | null> {
  const record = await recordIn(client, sharedBackupId(serverId));
  if (!isRecordOf(record, services)) return null;
  const against = await Promise.all([
    recordIn(client, backupRecordId(record.backupId)),
    recordIn(client, failedBackupId(record.backupId)),
  ]);
  return against.some((it) => isRecordOf(it, services)) ? null : record;
}

/** Backups of two services may have the same id. */
function isRecordOf(record: BackupRecord | null, services: readonly string[] | undefined): record is BackupRecord {
  return record !== null && (record.service === undefined || (services?.includes(record.service) ?? true));
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
