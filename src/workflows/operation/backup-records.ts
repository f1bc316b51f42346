/**
 * Records which server a backup belongs to, so that the server is found by the backup's id. Search attributes would lag,
 * and a namespace may not have them. Giving up is safe: records only make runs faster.
 */
import type { BackupRecord, BackupRecordKind } from '../../contract/event.ts';
import { localLookup, writeBackupRecord } from '../common/activity-proxies.ts';

/** The record, which ends at once. Only its memo matters. */
export async function recordBackup(record: BackupRecord): Promise<BackupRecord> {
  return record;
}

/** For a backup that the caller waits for. */
export async function recordOwn(
  kind: Extract<BackupRecordKind, 'made' | 'adopted'>,
  record: BackupRecord,
): Promise<void> {
  await localLookup.writeBackupRecord({ kind, record }).catch(() => undefined);
}

/** For what an event reports. @returns whether it was recorded */
export async function recordReported(
  kind: Extract<BackupRecordKind, 'shared' | 'failed'>,
  record: BackupRecord,
): Promise<boolean> {
  return writeBackupRecord({ kind, record }).then(
    () => true,
    () => false,
  );
}
