/** What activities look up, record and signal at Temporal. */
import { Client, type ConnectionLike } from '@temporalio/client';
import type { Encryption } from '../../encryption/encryption.ts';
import type { ActivityInProgress, BackupQuery } from '../../contract/activities.ts';
import type { RecordInput, ServersQuery, SharedBackupQuery } from '../../features/events/shapes.ts';
import type { Execution } from '../../contract/operation.ts';
import type { RunRef } from '../../features/reports/shapes.ts';
import type { NewerRun } from '../../features/superseding/shapes.ts';
import { askOperation } from './ask-operation.ts';
import { awaitedForMs } from './awaited-for.ts';
import { findBackupRecord, findServersOfBackup, findSharedBackup } from './backup-records.ts';
import { findCompletedBackup } from './backups.ts';
import { findEndOfRun } from '../../features/reports/client.ts';
import { findFreezes } from '../../features/freezes/find-freezes.ts';
import { hasColleagues } from './has-colleagues.ts';
import { createHoldServer } from '../../features/events/signals-hold-server.ts';
import { findLockHolder } from './find-lock-holder.ts';
import { TIMING } from '../../contract/timing.ts';
import { startedBy } from './started-by.ts';
import { writeBackupRecord } from './write-backup-record.ts';
import type { SignalClock } from './signals.ts';
import { signalOlderRuns } from '../../features/superseding/client.ts';
import { createWakeWaiters } from '../../features/events/client-signals.ts';

/**
 * Each is an activity, whose name and payloads are stored in histories.
 *
 * @param clock that limits the rate of signals. Default: that of this machine
 */
export const lookupsAndSignals = (client: Client, taskQueue: string, clock?: SignalClock) => ({
  askOperation: (operation: Execution) => askOperation(client, operation),
  findCompletedBackup: (query: BackupQuery) => findCompletedBackup(client, query),
  findBackupRecord: ({ backupId }: { backupId: string }) => findBackupRecord(client, backupId),
  findEndOfRun: (run: RunRef) => findEndOfRun(client, run),
  findLockHolder: ({ lockId }: { lockId: string }) => findLockHolder(client, lockId),
  findServersOfBackup: (query: ServersQuery) => findServersOfBackup(client, query),
  findSharedBackup: (query: SharedBackupQuery) => findSharedBackup(client, query),
  writeBackupRecord: (input: RecordInput) => writeBackupRecord(client, taskQueue, input),
  wakeWaiters: createWakeWaiters(client, clock),
  holdServer: createHoldServer(client, clock),
  signalOlderRuns: (newer: NewerRun) => signalOlderRuns(client, newer),
});

export type LookupsAndSignals = ReturnType<typeof lookupsAndSignals>;

export function temporalDeps(temporal: {
  connection: ConnectionLike;
  namespace: string;
  taskQueue: string;
  /** Of the worker that executes the activities. */
  identity: string;
  dataConverter: Encryption['dataConverter'];
}) {
  const { connection, namespace, taskQueue, identity, dataConverter } = temporal;
  const client = new Client({ connection, namespace, dataConverter });
  return {
    lookupsAndSignals: lookupsAndSignals(client, taskQueue),
    hasColleagues: () => hasColleagues(client, { taskQueue, identity }),
    awaitedForMs: (activity: ActivityInProgress) => awaitedForMs(client, activity),
    startedBy: (activity: Execution) =>
      client.withDeadline(Date.now() + TIMING.post.permitMs, () => startedBy(client, activity)),
    findFreezes: (ids: readonly string[], withinMs: number) =>
      client.withDeadline(Date.now() + withinMs, () => findFreezes(client, ids)),
  };
}
