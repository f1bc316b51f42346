/**
 * Records which server a backup belongs to, so that the server is found by the backup's id. Search attributes would lag,
 * and a namespace may not have them.
 */
import type { BackupRecord, BackupRecordKind } from '../../contract/events/event.ts';
import { localLookup, writeBackupRecord } from '../common/activity-proxies.ts';

/** The record, which ends at once. Only its memo matters. */
export async function recordBackup(record: BackupRecord): Promise<BackupRecord> {
  return record;
}

/**
 * For a backup that an operation made. A run with `--backup-id` checks the server of its backup against this record, so a
 * write that fails is repeated while the operation goes on.
 */
export async function recordMade(record: BackupRecord): Promise<void> {
  const input = { kind: 'made', record } as const;
  await localLookup.writeBackupRecord(input).catch(() => {
    void writeBackupRecord(input).catch(() => undefined);
  });
}

/** For a backup that a run waits for but did not make. Without the record, the run is only slower. */
export async function recordAdopted(record: BackupRecord): Promise<void> {
  await localLookup.writeBackupRecord({ kind: 'adopted', record }).catch(() => undefined);
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
