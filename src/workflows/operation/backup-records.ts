/**
 * Which server a backup is of, found by the backup's id without a search: a workflow that ends at once, under an id
 * made of it, whose memo tells. Search attributes would lag, and a namespace may not have them.
 */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, sleep, startChild } from '@temporalio/workflow';
import { WORKFLOW_TASK_TIMEOUT_MS } from '../../contract/run.ts';
import type { BackupRecord } from '../../contract/event.ts';
import { backupRecordId, failedBackupId, restedBackupId, sharedBackupId } from '../../contract/ids/workflow-ids.ts';
import { plainText } from '../../contract/wording/safe-text.ts';

const BUSY_PAUSE_MS = 200;
/** Without a worker that ends it a record stays busy: what is noted here only makes things quicker. */
const MAX_ATTEMPTS = 5;

/** The workflow: it does nothing. */
export async function recordBackup(record: BackupRecord): Promise<BackupRecord> {
  return record;
}

/** Of a backup that an operation of ours made. */
export async function noteOurBackup(record: BackupRecord): Promise<void> {
  await note(backupRecordId(record.backupId), record, 'made by Belay');
}

/** Of a backup that a run waits for, and didn't make. */
export async function noteRestedBackup(record: BackupRecord): Promise<void> {
  await note(restedBackupId(record.backupId), record, 'rested on by a run');
}

/** The next run that needs a backup of this server may rest on this one. @returns whether that is noted */
export async function shareBackup(record: BackupRecord): Promise<boolean> {
  return note(sharedBackupId(record.serverId), record, 'begun by somebody else');
}

/** Nobody is to rest on this one any more. */
export async function noteFailedBackup(record: BackupRecord): Promise<void> {
  await note(failedBackupId(record.backupId), record, 'failed');
}

/** The latest word counts. @returns whether it is noted */
async function note(workflowId: string, record: BackupRecord, what: string): Promise<boolean> {
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
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
        staticSummary: summary,
        memo: { record },
        args: [record],
      });
      return true;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      // Another one is being noted at this moment, which takes milliseconds.
      await sleep(BUSY_PAUSE_MS, { summary: 'another record is being written' });
    }
  }
  return false;
}
