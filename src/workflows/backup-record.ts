/**
 * Which server a backup is of, found by the backup's id without a search: a workflow that ends at once, under an id
 * made of it, whose memo tells. Search attributes would lag, and a namespace may not have them.
 */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { WORKFLOW_TASK_TIMEOUT_MS } from '../contract.ts';
import type { BackupRecord } from '../event-contract.ts';
import { backupRecordId, sharedBackupId } from '../ids.ts';
import { plainText } from '../text.ts';

/** The workflow: it does nothing. */
export async function recordBackup(record: BackupRecord): Promise<BackupRecord> {
  return record;
}

/** Events that name the backup find its server, and whoever waits for it, from now on. */
export async function noteBackup(record: BackupRecord): Promise<void> {
  await note(backupRecordId(record.backupId), record, 'REJECT_DUPLICATE');
}

/** The next run that needs a backup of this server may rest on this one. */
export async function shareBackup(record: BackupRecord): Promise<void> {
  await note(sharedBackupId(record.serverId), record, 'ALLOW_DUPLICATE');
}

async function note(
  workflowId: string,
  record: BackupRecord,
  workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE',
): Promise<void> {
  const { backupId, serverId, ours } = record;
  const who = ours ? 'made by Belay' : 'not made by Belay';
  try {
    await startChild<typeof recordBackup>('recordBackup', {
      workflowId,
      workflowIdReusePolicy,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      staticSummary: plainText(`Backup ${plainText(backupId, 40)} of ${plainText(serverId, 40)}, ${who}`, 120),
      memo: { record },
      args: [record],
    });
  } catch (error) {
    // Somebody noted it before, or is at it.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
