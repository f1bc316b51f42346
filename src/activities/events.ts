/** The activities of events and notifications. */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
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
import { plainText } from '../contract/wording/safe-text.ts';
import { TIMING } from '../contract/budgets/timing.ts';
import type { EventDeps } from './deps.ts';

const SOON_ATTEMPTS = 30;

export function createEventActivities(deps: EventDeps) {
  return {
    wakeWaiters: (input: WakeInput): Promise<string[]> => deps.wakeWaiters(input),

    holdServer: (input: HoldInput): Promise<string[]> => deps.holdServer(input),

    /** Fails until there is a record: an event may arrive before the answer to the request that made the backup. */
    async findServersOfBackup(query: ServersQuery): Promise<string[]> {
      const servers = await deps.findServersOfBackup(query);
      if (servers.length > 0) return servers;
      throw ApplicationFailure.create({
        type: 'NoRecord',
        message: `no run waits for backup ${plainText(query.backupId)}`,
        category: ApplicationFailureCategory.BENIGN,
      });
    },

    findSharedBackup: (query: SharedBackupQuery): Promise<BackupRecord | null> => deps.findSharedBackup(query),

    writeBackupRecord: (input: RecordInput): Promise<void> => deps.writeBackupRecord(input),

    async sendNotification(input: NotifyInput): Promise<void> {
      if (!(await deps.sendNotification(input).catch(later))) throw unknownHere(`channel ${input.channel}`);
    },

    sendReport: (message: ReportMessage): Promise<ReportAnswer> => deps.sendReport(message),

    findEndOfRun: (run: RunRef): Promise<RunEnd | null> => deps.findEndOfRun(run),

    async callHeartbeat({ name }: { name: string }): Promise<void> {
      if (!(await deps.callHeartbeat(name).catch(later))) throw unknownHere(`heartbeat ${name}`);
    },
  };
}

/** A receiver that asks to wait is not called before, but often enough within the day that a message is repeated. */
function later(error: unknown): never {
  const { retryAfterMs } = error as { retryAfterMs?: number };
  if (retryAfterMs === undefined || !(error instanceof Error)) throw error;
  const nextRetryDelay = Math.min(Math.max(retryAfterMs, TIMING.notify.retryMs), TIMING.notify.maxHoldMs);
  throw ApplicationFailure.create({ type: error.name, message: error.message, nextRetryDelay });
}

/** Another worker may have it, since configurations differ while a change spreads. So the first retries come soon. */
function unknownHere(what: string): ApplicationFailure {
  const message = `this worker has no ${what} in its belay.yaml`;
  const soon = activityInfo().attempt <= SOON_ATTEMPTS ? { nextRetryDelay: TIMING.notify.otherWorkerMs } : {};
  return ApplicationFailure.create({ type: 'NotConfigured', message, ...soon });
}
