/** Finds completed backups that Belay made, and reads and writes the records of backups. */
import type { Client } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { BackupQuery } from '../../contract/activities.ts';
import type { BackupConclusion, BackupRecord, BackupRecordKind, OperationMemo } from '../../contract/operation.ts';
import type { BackupResult } from '../../contract/run.ts';
import { backupServerId, backupRecordId, failedBackupId, adoptedBackupId, sharedBackupId } from '../../contract/ids.ts';
import { leniently } from '../../encryption/payload-codec.ts';
import { firstListed, quoted } from '../list-filter.ts';
import { unlessMissing } from '../read-workflow.ts';
import type { ServersQuery, SharedBackupQuery, RecordInput } from '../../features/events/shapes.ts';
import { codeSpan, plainText } from '../../contract/safe-text.ts';
import { BACKUP_RECORD_TYPE, eventTaskQueue } from '../../contract/names.ts';
import { TIMING } from '../../contract/timing.ts';
import { serviceFact } from '../../request/run-details.ts';
import { detailsPage, factList } from '../../contract/markdown.ts';

/** Looks at this many backups: if the newest ones are too old, earlier ones are as well. */
const MAX_LOOKED_AT = 5;

/**
 * Returns the newest completed backup of the server that started at `startedSince` or later, or null. It looks among the
 * closed holders of the server's lock. One that this worker cannot decode, or that Temporal has deleted since the list,
 * is not reused.
 */
export async function newestCompletedBackup(
  client: Client,
  { serverId, startedSince }: BackupQuery,
): Promise<BackupConclusion | null> {
  const workflowId = backupServerId(serverId);
  const query = `WorkflowId = ${quoted(workflowId)} AND ExecutionStatus = 'Completed' AND StartTime >= '${startedSince}'`;
  for (const { runId, memo, unreadable } of await firstListed(client, query, MAX_LOOKED_AT)) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const ended = await leniently(() => unlessMissing(handle.result() as Promise<BackupResult>));
    const result = unreadable === null && ended.unreadable === null ? ended.answer : null;
    const { service = '' } = (memo ?? {}) as Partial<OperationMemo>;
    if (result !== null && (result.startedAt ?? '') >= startedSince) return { service, result, error: null };
  }
  return null;
}

/* Reads backup records by id, which is consistent at once. A search would lag. */

/**
 * Returns the servers whose operations or runs wait for this backup. It fails until there is a record, because an event
 * may arrive before the answer to the request that made the backup.
 */
export async function serversOfBackup(client: Client, { backupId, services }: ServersQuery): Promise<string[]> {
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

/** Null if Belay did not make the backup. */
export async function backupRecordOf(client: Client, backupId: string): Promise<BackupRecord | null> {
  return recordIn(client, backupRecordId(backupId));
}

/**
 * Returns the newest backup of the server that an event reported. Null if there is none, if an event reported that it
 * failed, or if Belay made it, in which case its lock shares it.
 */
export async function sharedBackupOf(
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
  const described = await unlessMissing(client.workflow.getHandle(workflowId).describe());
  return (described?.memo as { record?: BackupRecord } | undefined)?.record ?? null;
}

/*
 * Writes a backup record: a workflow that ends at once. Its id is made from the backup's id, and its memo holds the
 * data.
 */

interface Row {
  id: (record: BackupRecord) => string;
  /** The text that the UI shows for the record. */
  summary: string;
  /** True if an event reported the record. Such records must not delay a run in a flood of events. */
  isReported: boolean;
}

const ROWS: Record<BackupRecordKind, Row> = {
  made: { id: ({ backupId }) => backupRecordId(backupId), summary: 'made by Belay', isReported: false },
  adopted: { id: ({ backupId }) => adoptedBackupId(backupId), summary: 'used by a run', isReported: false },
  shared: { id: ({ serverId }) => sharedBackupId(serverId), summary: 'started outside Belay', isReported: true },
  failed: { id: ({ backupId }) => failedBackupId(backupId), summary: 'failed', isReported: true },
};

/** Replaces an earlier record with the same id. */
export async function storeBackupRecord(
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

function recordStaticDetails({ service, backupId, serverId, startedAt }: BackupRecord): string {
  return detailsPage(
    'A record, which ends at once: it lets later runs find this backup, and the server that it belongs to.',
    factList({
      Backup: codeSpan(backupId),
      Server: serverId === '' ? 'unknown' : codeSpan(serverId),
      Service: serviceFact(service),
      'Began at': startedAt,
    }),
  );
}
