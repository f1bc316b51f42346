/** All activities. Their names and payloads are stored in the histories of running workflows. */
import type { ApprovalCheck, CheckedApproval } from '../contract/approval.ts';
import type { DailyDeadline } from '../contract/run.ts';
import type { FreezeAnswer, FreezeQuestion, FreezeScope, FreezeWord } from '../contract/freeze.ts';
import type { SlotQuery } from '../contract/activities.ts';
import { checkApproval } from './approvals.ts';
import { createDescribeWorker } from './describe-worker.ts';
import { createEventActivities } from './events.ts';
import { createGates } from './gates.ts';
import { createLookups } from './lookups.ts';
import { createSiteChecks } from './site-checks.ts';
import { frozenParts } from './frozen-parts.ts';
import { firstAfter, slotOf } from '../request/calendar/local-time.ts';
import { createPooledWaits } from './pooled-waits/poll-while-in-progress.ts';
import { createReads, singleReads } from './http/read-status.ts';
import { createTriggers } from './http/post-trigger.ts';
import type { ActivityDeps } from './deps.ts';

export function createActivities({
  service,
  rest,
  workerInfo,
  admission,
  askOperation,
  findBackupRecord,
  findCompletedBackup,
  findLockHolder,
  awaitedForMs,
  startedBy,
  hasColleagues,
  signalOlderRuns,
  policy,
  readSite,
  getPage,
  judge,
  approvals,
  clocks,
  pool,
  onRead,
  ...events
}: ActivityDeps) {
  const reads = createReads({ service, served: workerInfo, rest, noteRead: admission.noteRead, onRead });
  return {
    ...singleReads(reads, clocks),
    ...createPooledWaits(pool, reads),
    ...createTriggers({
      ...{ service, served: workerInfo, rest, awaitedForMs, startedBy, hasColleagues, judge, approvals, clocks },
    }),
    ...createSiteChecks({ served: workerInfo, policy, readSite }),
    ...createGates({ served: workerInfo, policy, getPage }),
    ...createEventActivities(events),
    ...createLookups({
      ...{ askOperation, findBackupRecord, findCompletedBackup, findLockHolder, signalOlderRuns },
    }),

    describeWorker: createDescribeWorker({ workerInfo, admission, policy, judge, approvals, clocks }),

    /** What of this is frozen; null if nothing is. */
    judgeFreezes: async (question: FreezeQuestion): Promise<FreezeAnswer> => ({
      frozen: await frozenParts(question, judge),
      epoch: workerInfo.epoch,
    }),

    /** What this worker says of a freeze that begins. */
    confirmFreeze: async (scope: FreezeScope): Promise<FreezeWord> => (await policy()).wordOn(scope),

    /** Whether an answer to a question counts, with this worker's signers. */
    checkApproval: (check: ApprovalCheck): Promise<CheckedApproval> => checkApproval(check, approvals),

    /** A worker takes it when the next run may begin. */
    admitRun: (): Promise<void> => Promise.resolve(),

    /** The instant of a daily deadline, ISO 8601. */
    resolveDeadline: ({ time, timeZone, after }: Required<DailyDeadline>): Promise<string> =>
      Promise.resolve(firstAfter(time, timeZone, after)),

    /** The slot that one firing of a schedule is for. */
    resolveSlot: ({ slot, timeZone, firedAt }: SlotQuery): Promise<string> =>
      Promise.resolve(slotOf(slot, timeZone, firedAt)),
  };
}

export type Activities = ReturnType<typeof createActivities>;
