/** What activities look up, record and signal at Temporal. */
import { Client, type ConnectionLike } from '@temporalio/client';
import type { Encryption } from '../../encryption/encryption.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import type { FindFreezes } from '../../policy/judge.ts';
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

/** @param clock that limits the rate of signals. Default: that of this machine */
export const lookupsAndSignals = (client: Client, taskQueue: string, clock?: SignalClock) =>
  ({
    askOperation: (operation) => askOperation(client, operation),
    findCompletedBackup: (query) => findCompletedBackup(client, query),
    findBackupRecord: (backupId) => findBackupRecord(client, backupId),
    findEndOfRun: (run) => findEndOfRun(client, run),
    findLockHolder: (lockId) => findLockHolder(client, lockId),
    findServersOfBackup: (query) => findServersOfBackup(client, query),
    findSharedBackup: (query) => findSharedBackup(client, query),
    writeBackupRecord: (input) => writeBackupRecord(client, taskQueue, input),
    wakeWaiters: createWakeWaiters(client, clock),
    holdServer: createHoldServer(client, clock),
    signalOlderRuns: (newer) => signalOlderRuns(client, newer),
  }) satisfies Partial<ActivityDeps>;

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
    ...lookupsAndSignals(client, taskQueue),
    hasColleagues: () => hasColleagues(client, { taskQueue, identity }),
    awaitedForMs: (activity) => awaitedForMs(client, activity),
    startedBy: (activity) => client.withDeadline(Date.now() + TIMING.post.permitMs, () => startedBy(client, activity)),
    findFreezes: (ids, withinMs) => client.withDeadline(Date.now() + withinMs, () => findFreezes(client, ids)),
  } satisfies Partial<ActivityDeps> & { findFreezes: FindFreezes };
}
