/** What activities look up and signal at Temporal. */
import { Client, type ConnectionLike } from '@temporalio/client';
import type { ActivityDeps } from '../../activities/deps.ts';
import { awaitedForMs } from './awaited-for.ts';
import { findBackupRecord, findServersOfBackup, findSharedBackup } from './backup-records.ts';
import { findCompletedBackup } from './find-completed-backup.ts';
import { hasColleagues } from './has-colleagues.ts';
import { createHoldServer } from '../signals/hold-server.ts';
import { findLockHolder } from './find-lock-holder.ts';
import { createWakeWaiters } from '../signals/wake-waiters.ts';

export function temporalDeps(temporal: {
  connection: ConnectionLike;
  namespace: string;
  taskQueue: string;
  /** Of the worker that executes the activities. */
  identity: string;
}): Pick<
  ActivityDeps,
  | 'findBackupRecord'
  | 'awaitedForMs'
  | 'hasColleagues'
  | 'findCompletedBackup'
  | 'findLockHolder'
  | 'wakeWaiters'
  | 'holdServer'
  | 'findServersOfBackup'
  | 'findSharedBackup'
> {
  const { connection, namespace, taskQueue, identity } = temporal;
  const client = new Client({ connection, namespace });
  return {
    hasColleagues: () => hasColleagues(client, { taskQueue, identity }),
    awaitedForMs: (activity) => awaitedForMs(client, activity),
    findCompletedBackup: (query) => findCompletedBackup(client, query),
    findBackupRecord: (backupId) => findBackupRecord(client, backupId),
    findLockHolder: (lockId) => findLockHolder(client, lockId),
    wakeWaiters: createWakeWaiters(client),
    holdServer: createHoldServer(client),
    findServersOfBackup: (query) => findServersOfBackup(client, query),
    findSharedBackup: (query) => findSharedBackup(client, query),
  };
}
