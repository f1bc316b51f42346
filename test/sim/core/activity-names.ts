/** The names that a worker registers. */
export const ACTIVITIES: ReadonlySet<string> = new Set([
  'describeWorker',
  'readLatestDeployment',
  'readBackup',
  'triggerDeployment',
  'createBackup',
  'wakeWaiters',
  'holdServer',
  'findServersOfBackup',
  'findSharedBackup',
  'sendNotification',
  'callHeartbeat',
  'findCompletedBackup',
  'findBackupRecord',
  'findLockHolder',
  'resolveDeadline',
  'resolveSlot',
]);
