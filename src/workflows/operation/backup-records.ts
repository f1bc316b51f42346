/**
 * Records which server a backup belongs to, so that the server is found by the backup's id. A record is a workflow that
 * ends at once, with an id made from the backup's and the data in its memo. Search attributes would lag, and a
 * namespace may not have them.
 */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, sleep, startChild } from '@temporalio/workflow';
import type { BackupRecord } from '../../contract/event.ts';
import { backupRecordId, failedBackupId, adoptedBackupId, sharedBackupId } from '../../contract/ids/workflow-ids.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { TIMING } from '../../contract/timing.ts';

/** A record stays busy until a worker completes it. Giving up is safe: records only make runs faster. */
const MAX_ATTEMPTS = 5;

/** The record. Only its memo matters. */
export async function recordBackup(record: BackupRecord): Promise<BackupRecord> {
  return record;
}

/** For a backup made by an operation of Belay. */
export async function recordOwnBackup(record: BackupRecord): Promise<void> {
  await writeRecord(backupRecordId(record.backupId), record, 'made by Belay');
}

/** For a backup that a run waits for but did not make. */
export async function recordAdoptedBackup(record: BackupRecord): Promise<void> {
  await writeRecord(adoptedBackupId(record.backupId), record, 'used by a run');
}

/** Lets the next run that needs a backup of this server use this one. @returns whether it was recorded */
export async function shareBackup(record: BackupRecord): Promise<boolean> {
  return writeRecord(sharedBackupId(record.serverId), record, 'started outside Belay');
}

/** Keeps runs from using this backup. */
export async function recordFailedBackup(record: BackupRecord): Promise<void> {
  await writeRecord(failedBackupId(record.backupId), record, 'failed');
}

/** The latest record counts. @returns whether it was written */
async function writeRecord(workflowId: string, record: BackupRecord, what: string): Promise<boolean> {
  const summary = plainText(
    `Backup ${plainText(record.backupId, 40)} of ${plainText(record.serverId, 40)}, ${what}`,
    120,
  );
  for (let left = MAX_ATTEMPTS; left > 0; left -= 1) {
    try {
      await startChild<typeof recordBackup>('recordBackup', {
        workflowId,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        parentClosePolicy: ParentClosePolicy.ABANDON,
        workflowTaskTimeout: TIMING.worker.workflowTaskMs,
        staticSummary: summary,
        memo: { record },
        args: [record],
      });
      return true;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      // Another record with this id is being written, which takes milliseconds.
      await sleep(TIMING.lookup.recordBusyPauseMs, { summary: 'another record is being written' });
    }
  }
  return false;
}
