/** What events and notifications need: all of it from outside of this package, made by the worker. */
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { BackupRecord, NotifyInput, WakeInput } from '../event-contract.ts';
import { plainText } from '../text.ts';

export interface EventDeps {
  /** Signals whoever waits on these. @returns their workflow ids */
  wake: (input: WakeInput) => Promise<string[]>;
  /** What is noted of a backup by its id, or null. */
  backupRecord: (backupId: string) => Promise<BackupRecord | null>;
  /** The newest backup of a server that an event told of, and that isn't ours, or null. */
  sharedBackup: (serverId: string) => Promise<BackupRecord | null>;
  /** @throws Error whose message holds no address */
  notify: (input: NotifyInput) => Promise<void>;
  /** @throws Error whose message holds no address */
  callHeartbeat: (name: string) => Promise<void>;
}

export function createEventActivities(deps: EventDeps) {
  return {
    wake: (input: WakeInput): Promise<string[]> => deps.wake(input),

    /** Fails until there is a record: an event may be quicker than the answer to the request that made the backup. */
    async serverOfBackup({ backupId }: { backupId: string }): Promise<string> {
      const record = await deps.backupRecord(backupId);
      if (record !== null) return record.serverId;
      throw ApplicationFailure.create({
        type: 'NoRecord',
        message: `no run of ours waits for backup ${plainText(backupId)}`,
        category: ApplicationFailureCategory.BENIGN,
      });
    },

    findSharedBackup: ({ serverId }: { serverId: string }): Promise<BackupRecord | null> => deps.sharedBackup(serverId),

    notify: (input: NotifyInput): Promise<void> => deps.notify(input),

    callHeartbeat: ({ name }: { name: string }): Promise<void> => deps.callHeartbeat(name),
  };
}
