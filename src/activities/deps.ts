/** Everything that activities need from outside. The worker passes it in. */
import type {
  BackupRecord,
  RecordInput,
  ServersQuery,
  SharedBackupQuery,
  WakeInput,
} from '../contract/events/event.ts';
import type { NotifyInput } from '../contract/events/notification.ts';
import type { ReportAnswer, ReportMessage, RunEnd, RunRef } from '../contract/report.ts';
import type { HoldInput } from '../contract/rollout.ts';
import type { BackupConclusion, Execution, LockHolder, OperationProgress } from '../contract/operation.ts';
import type { NewerRun } from '../contract/superseding.ts';
import type { WorkerInfo, BackupQuery } from '../contract/activities.ts';
import type { HostingApiClient } from '../hosting-api/index.ts';
import type { TriggerDeps } from './http/post-trigger.ts';
import type { OnRead } from './http/read-status.ts';
import type { Pool } from './pooled-waits/poll-while-in-progress.ts';
import type { Rest } from './http/worker-rest.ts';
import type { Policy } from '../policy/policy.ts';
import type { GetPage } from '../gates/index.ts';
import type { ReadSite } from '../site-check/index.ts';
import type { ApprovalJudge } from '../policy/approval-judge.ts';
import type { Judge } from '../policy/judge.ts';

export type { ActivityInProgress } from './http/post-checks.ts';

export interface EventDeps {
  /** Signals the workflows that wait for a server or site. @returns their workflow ids */
  wakeWaiters: (input: WakeInput) => Promise<string[]>;
  /** Lets the rollouts in flight hold a server. @returns their workflow ids */
  holdServer: (input: HoldInput) => Promise<string[]>;
  /** The servers whose operations or runs wait for a backup. */
  findServersOfBackup: (query: ServersQuery) => Promise<string[]>;
  /** The newest backup of a server that an event reported and Belay did not make, or null. */
  findSharedBackup: (query: SharedBackupQuery) => Promise<BackupRecord | null>;
  writeBackupRecord: (input: RecordInput) => Promise<void>;
  /** @returns false if this worker does not have the channel. @throws Error whose message contains no address */
  sendNotification: (input: NotifyInput) => Promise<boolean>;
  /** @returns false if this worker does not have the heartbeat. @throws Error whose message contains no address */
  callHeartbeat: (name: string) => Promise<boolean>;
  sendReport: (message: ReportMessage) => Promise<ReportAnswer>;
  /** How a run ended; null while it goes on. */
  findEndOfRun: (run: RunRef) => Promise<RunEnd | null>;
}

interface Admission {
  /** @returns false if a run that begins has to wait for admission */
  admitsNewcomer: () => boolean;
  /** @param dueMs when a read that is made now was due, by Temporal's clock. @returns how late it is */
  noteRead: (dueMs: number) => number;
}

export interface ActivityDeps extends EventDeps {
  service: HostingApiClient;
  rest: Rest;
  workerInfo: WorkerInfo;
  admission: Admission;
  /** @throws Error if it does not answer */
  askOperation: (operation: Execution) => Promise<OperationProgress>;
  findCompletedBackup: (query: BackupQuery) => Promise<BackupConclusion | null>;
  /** The record of a backup that Belay made; null if Belay did not make it. */
  findBackupRecord: (backupId: string) => Promise<BackupRecord | null>;
  /** The operation that has this id now, or null. */
  findLockHolder: (lockId: string) => Promise<LockHolder | null>;
  /** Lets older runs know of a newer one that covers them. @returns their workflow ids */
  signalOlderRuns: (newer: NewerRun) => Promise<string[]>;
  policy: () => Promise<Policy>;
  readSite: ReadSite;
  /** For gates. */
  getPage: GetPage;
  judge: Judge;
  approvals: ApprovalJudge;
  awaitedForMs: TriggerDeps['awaitedForMs'];
  startedBy: TriggerDeps['startedBy'];
  hasColleagues: TriggerDeps['hasColleagues'];
  clocks?: TriggerDeps['clocks'];
  pool: Pool;
  /** Call it after every read. */
  onRead?: OnRead;
}
