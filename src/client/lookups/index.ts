/** What activities look up, record and signal at Temporal. */
import { Client, type ConnectionLike } from '@temporalio/client';
import type { Encryption } from '../../encryption/encryption.ts';
import type { ActivityInProgress, BackupQuery } from '../../contract/activities.ts';
import type { RecordInput, ServersQuery, SharedBackupQuery } from '../../contract/events/event.ts';
import type { Execution } from '../../contract/operation.ts';
import type { RunRef } from '../../contract/report.ts';
import type { NewerRun } from '../../contract/superseding.ts';
import { askOperation } from './ask-operation.ts';
import { awaitedForMs } from './awaited-for.ts';
import { findBackupRecord, findServersOfBackup, findSharedBackup } from './backup-records.ts';
import { findCompletedBackup } from './find-completed-backup.ts';
import { findEndOfRun } from './find-end-of-run.ts';
import { findFreezes } from './find-freezes.ts';
import { hasColleagues } from './has-colleagues.ts';
import { createHoldServer } from '../signals/hold-server.ts';
import { findLockHolder } from './find-lock-holder.ts';
import { TIMING } from '../../contract/budgets/timing.ts';
import { startedBy } from './started-by.ts';
import { writeBackupRecord } from './write-backup-record.ts';
import type { SignalClock } from '../signals/throttled-signal.ts';
import { signalOlderRuns } from '../signals/signal-older-runs.ts';
import { createWakeWaiters } from '../signals/wake-waiters.ts';

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
