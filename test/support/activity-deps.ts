/** For tests of activities that call only the service. */
import { createPool } from '../../src/worker/pool.ts';
import { createApprovalJudge } from '../../src/features/approvals/worker.ts';
import { createFreezeJudge } from '../../src/features/freezes/worker.ts';
import { fixedPolicy } from '../../src/config/live-policy.ts';
import type { ActivityDeps } from '../../src/activities/deps.ts';
import { MACHINE_CLOCKS } from '../../src/activities/stopwatch.ts';

const nothing = () => Promise.resolve(null);

export const SERVICE_ONLY: Omit<ActivityDeps, 'service' | 'workerInfo'> = {
  lookupsAndSignals: {
    askOperation: () => Promise.reject(new Error('these tests have no operations')),
    findBackupRecord: nothing,
    findCompletedBackup: nothing,
    findEndOfRun: nothing,
    findLockHolder: nothing,
    findServersOfBackup: () => Promise.resolve([]),
    findSharedBackup: nothing,
    writeBackupRecord: () => Promise.resolve(),
    wakeWaiters: () => Promise.resolve([]),
    holdServer: () => Promise.resolve([]),
    signalOlderRuns: () => Promise.resolve([]),
  },
  policy: fixedPolicy({}),
  getPage: () => Promise.reject(new Error('these tests measure no gate')),
  readSite: () => Promise.reject(new Error('these tests check no site')),
  approvals: createApprovalJudge(fixedPolicy({})),
  freezes: createFreezeJudge(fixedPolicy({}), () => Promise.resolve([])),
  admission: { admitNewcomer: () => true, noteRead: () => 0 },
  clocks: MACHINE_CLOCKS,
  pool: createPool(() => Promise.resolve(Date.now())),
  rest: { reason: null, begin: () => undefined, isOver: () => Promise.resolve(true) },
  hasColleagues: () => Promise.resolve(false),
  awaitedForMs: () => Promise.resolve(0),
  startedBy: () => Promise.resolve([]),
  deliveries: {
    sendNotification: () => Promise.resolve(true),
    callHeartbeat: () => Promise.resolve(true),
    sendReport: () => Promise.resolve({ kind: 'taken' }),
  },
};
