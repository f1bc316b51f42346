/** What activities look up at Temporal, in the model. */
import { defaultPayloadConverter as payloads, mapFromPayloads } from '@temporalio/common';
import type { BackupQuery } from '../../../src/contract/activities.ts';
import type { BackupRecord, ServersQuery, SharedBackupQuery } from '../../../src/contract/event.ts';
import type { BackupConclusion, LockHolder, OperationMemo } from '../../../src/contract/operation.ts';
import type { BackupResult } from '../../../src/contract/run.ts';
import {
  adoptedBackupId,
  backupRecordId,
  backupServerId,
  failedBackupId,
  sharedBackupId,
} from '../../../src/contract/ids/workflow-ids.ts';
import { createEventSignals, type EventSignals } from './event-signals.ts';
import type { Run, Server } from './types.ts';

export interface Lookups extends EventSignals {
  findLockHolder: (lockId: string) => LockHolder | null;
  findCompletedBackup: (query: BackupQuery) => BackupConclusion | null;
  findBackupRecord: (backupId: string) => BackupRecord | null;
  findSharedBackup: (query: SharedBackupQuery) => BackupRecord | null;
  findServersOfBackup: (query: ServersQuery) => string[];
}

export function createLookups(server: () => Server): Lookups {
  const recordIn = (workflowId: string): BackupRecord | null => {
    const run = server().find(workflowId);
    return run === undefined ? null : (memoOf<{ record?: BackupRecord }>(run).record ?? null);
  };
  return {
    ...createEventSignals(server),
    findLockHolder(lockId) {
      const run = server().find(lockId);
      if (run === undefined) return null;
      const { service } = memoOf<OperationMemo>(run);
      return {
        runId: run.runId,
        isClosed: run.closedMs !== null,
        lockedBy: run.parent?.workflowId ?? null,
        acceptsSignals: true,
        service,
      };
    },
    findCompletedBackup({ serverId, startedSince }) {
      for (const run of server().runs.toReversed()) {
        if (run.workflowId !== backupServerId(serverId) || run.outcome === null || run.outcome === 'terminated')
          continue;
        if (!('result' in run.outcome) || run.outcome.result === null) continue;
        const result = payloads.fromPayload<BackupResult>(run.outcome.result);
        if ((result.startedAt ?? '') >= startedSince)
          return { service: memoOf<OperationMemo>(run).service, result, error: null };
      }
      return null;
    },
    findBackupRecord: (backupId) => recordIn(backupRecordId(backupId)),
    findSharedBackup({ serverId }) {
      const record = recordIn(sharedBackupId(serverId));
      if (record === null) return null;
      const against = [recordIn(backupRecordId(record.backupId)), recordIn(failedBackupId(record.backupId))];
      return against.some((it) => it !== null) ? null : record;
    },
    findServersOfBackup: ({ backupId }) =>
      [recordIn(backupRecordId(backupId)), recordIn(adoptedBackupId(backupId))].flatMap((it) =>
        it === null ? [] : [it.serverId],
      ),
  };
}

export const memoOf = <T>({ memo }: Run): T => mapFromPayloads(payloads, memo) as T;
