/**
 * Records which server a backup belongs to, so that the server is found by the backup's id. Search attributes would lag,
 * and a namespace may not have them.
 */
import type { BackupRecord, BackupRecordKind } from '../../features/events/shapes.ts';
import { writeBackupRecord } from '../activity-proxies.ts';

/** The record, which ends at once. Only its memo matters. */
export async function recordBackup(record: BackupRecord): Promise<BackupRecord> {
  return record;
}

/**
 * For a backup that an operation made or a run waits for. A write that fails is repeated while the wait goes on, whose
 * reads must not wait for it.
 */
export function recordWaitedFor(kind: Extract<BackupRecordKind, 'made' | 'adopted'>, record: BackupRecord): void {
  void writeBackupRecord({ kind, record }).catch(() => undefined);
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
