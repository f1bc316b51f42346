/** Writes a backup record: a workflow that ends at once, with an id made from the backup's and the data in its memo. */
import type { Client } from '@temporalio/client';
import type { BackupRecord, BackupRecordKind, RecordInput } from '../../features/events/shapes.ts';
import { adoptedBackupId, backupRecordId, failedBackupId, sharedBackupId } from '../../contract/ids.ts';
import { BACKUP_RECORD_TYPE, eventTaskQueue } from '../../contract/names.ts';
import { TIMING } from '../../contract/timing.ts';
import { plainText } from '../../contract/safe-text.ts';
import { recordStaticDetails } from '../../request/other-details.ts';

interface Row {
  id: (record: BackupRecord) => string;
  /** What the UI shows of it. */
  summary: string;
  /** An event reported it: no flood of events may delay a run. */
  isReported: boolean;
}

const ROWS: Record<BackupRecordKind, Row> = {
  made: { id: ({ backupId }) => backupRecordId(backupId), summary: 'made by Belay', isReported: false },
  adopted: { id: ({ backupId }) => adoptedBackupId(backupId), summary: 'used by a run', isReported: false },
  shared: { id: ({ serverId }) => sharedBackupId(serverId), summary: 'started outside Belay', isReported: true },
  failed: { id: ({ backupId }) => failedBackupId(backupId), summary: 'failed', isReported: true },
};

/** The latest record counts. */
export async function writeBackupRecord(
  client: Client,
  taskQueue: string,
  { kind, record }: RecordInput,
): Promise<void> {
  const { id, summary, isReported } = ROWS[kind];
  const name = `Backup ${plainText(record.backupId, 40)} of ${plainText(record.serverId, 40)}`;
  await client.workflow.start(BACKUP_RECORD_TYPE, {
    workflowId: id(record),
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    taskQueue: isReported ? eventTaskQueue(taskQueue) : taskQueue,
    workflowTaskTimeout: TIMING.worker.workflowTaskMs,
    staticSummary: plainText(`${name}, ${summary}`, 120),
    staticDetails: recordStaticDetails(record),
    memo: { record },
    args: [record],
  });
}
