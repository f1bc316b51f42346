/** What activities look up, record and signal at Temporal. */
import { Client, type ConnectionLike } from '@temporalio/client';
import type { Encryption } from '../../encryption/encryption.ts';
import type { ActivityInProgress, BackupQuery } from '../../contract/activities.ts';
import type { RecordInput, ServersQuery, SharedBackupQuery } from '../../features/events/shapes.ts';
import type { Execution } from '../../contract/operation.ts';
import type { RunRef } from '../../features/notifications/shapes.ts';
import type { NewerRun } from '../../features/superseding/shapes.ts';
import { ASKS_AGAIN } from '../ask-again.ts';
import { queryOperation, awaitedForMs, hasColleagues, startedBy } from './runs.ts';
import {
  backupRecordOf,
  serversOfBackup,
  sharedBackupOf,
  newestCompletedBackup,
  storeBackupRecord,
} from './backups.ts';
import { endOfRun } from '../../features/notifications/client.ts';
import { findFreezes } from '../../features/freezes/client.ts';
import { createHoldServer, createWakeWaiters } from '../../features/events/client-signals.ts';
import { lockHolderOf } from './locks.ts';
import { TIMING } from '../../contract/timing.ts';
import type { SignalClock } from './signals.ts';
import { signalOlderRuns } from '../../features/superseding/client.ts';

/**
 * Each property is an activity. Histories store the names and the payloads.
 *
 * @param clock limits the rate of signals. Default: the clock of this machine
 */
export const lookupsAndSignals = (client: Client, taskQueue: string, clock?: SignalClock) => ({
  askOperation: (operation: Execution) => queryOperation(client, operation),
  findCompletedBackup: (query: BackupQuery) => newestCompletedBackup(client, query),
  findBackupRecord: ({ backupId }: { backupId: string }) => backupRecordOf(client, backupId),
  findEndOfRun: (run: RunRef) => endOfRun(client, run),
  findLockHolder: ({ lockId }: { lockId: string }) => lockHolderOf(client, lockId),
  findServersOfBackup: (query: ServersQuery) => serversOfBackup(client, query),
  findSharedBackup: (query: SharedBackupQuery) => sharedBackupOf(client, query),
  writeBackupRecord: (input: RecordInput) => storeBackupRecord(client, taskQueue, input),
  wakeWaiters: createWakeWaiters(client, clock),
  holdServer: createHoldServer(client, clock),
  signalOlderRuns: (newer: NewerRun) => signalOlderRuns(client, newer),
});

export type LookupsAndSignals = ReturnType<typeof lookupsAndSignals>;

export function temporalDeps(temporal: {
  connection: ConnectionLike;
  namespace: string;
  taskQueue: string;
  /** The identity of the worker that executes the activities. */
  identity: string;
  dataConverter: Encryption['dataConverter'];
}) {
  const { connection, namespace, taskQueue, identity, dataConverter } = temporal;
  const client = new Client({ connection, namespace, dataConverter, interceptors: ASKS_AGAIN });
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
