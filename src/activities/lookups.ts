/** What workflows ask Temporal about other workflows. */
import type { BackupQuery } from '../contract/activities.ts';
import type { BackupRecord } from '../contract/events/event.ts';
import type { BackupConclusion, Execution, LockHolder, OperationProgress } from '../contract/operation.ts';
import type { NewerRun } from '../contract/superseding.ts';
import type { ActivityDeps } from './deps.ts';

export type LookupDeps = Pick<
  ActivityDeps,
  'askOperation' | 'findBackupRecord' | 'findCompletedBackup' | 'findLockHolder' | 'signalOlderRuns'
>;

export const createLookups = (deps: LookupDeps) => ({
  /** What an operation in flight knows. */
  askOperation: (operation: Execution): Promise<OperationProgress> => deps.askOperation(operation),

  /** The newest completed backup that Belay made and that started at `startedSince` or later; or null. */
  findCompletedBackup: (query: BackupQuery): Promise<BackupConclusion | null> => deps.findCompletedBackup(query),

  findBackupRecord: ({ backupId }: { backupId: string }): Promise<BackupRecord | null> =>
    deps.findBackupRecord(backupId),

  findLockHolder: ({ lockId }: { lockId: string }): Promise<LockHolder | null> => deps.findLockHolder(lockId),

  signalOlderRuns: (newer: NewerRun): Promise<string[]> => deps.signalOlderRuns(newer),
});
