/** What events and notifications need: all of it from outside of this package, made by the worker. */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { BackupRecord, NotifyInput, WakeInput } from '../contract/event.ts';
import type { HoldInput } from '../contract/rollout.ts';
import { plainText } from '../contract/wording/safe-text.ts';

const SOON_ATTEMPTS = 30;
const SOON_MS = 500;

export interface EventDeps {
  /** Signals whoever waits on these. @returns their workflow ids */
  wake: (input: WakeInput) => Promise<string[]>;
  /** Keeps rollouts from beginning with a server. @returns their workflow ids */
  hold: (input: HoldInput) => Promise<string[]>;
  /** The servers whose operations or runs wait for a backup. */
  serversOf: (backupId: string) => Promise<string[]>;
  /** The newest backup of a server that an event told of, and that isn't ours, or null. */
  sharedBackup: (serverId: string) => Promise<BackupRecord | null>;
  /** @returns false where this worker doesn't know the target. @throws Error whose message holds no address */
  notify: (input: NotifyInput) => Promise<boolean>;
  /** @returns false where this worker doesn't know the name. @throws Error whose message holds no address */
  callHeartbeat: (name: string) => Promise<boolean>;
}

export function createEventActivities(deps: EventDeps) {
  return {
    wake: (input: WakeInput): Promise<string[]> => deps.wake(input),

    holdServer: (input: HoldInput): Promise<string[]> => deps.hold(input),

    /** Fails until there is a record: an event may be quicker than the answer to the request that made the backup. */
    async serversOfBackup({ backupId }: { backupId: string }): Promise<string[]> {
      const servers = await deps.serversOf(backupId);
      if (servers.length > 0) return servers;
      throw ApplicationFailure.create({
        type: 'NoRecord',
        message: `no run of ours waits for backup ${plainText(backupId)}`,
        category: ApplicationFailureCategory.BENIGN,
      });
    },

    findSharedBackup: ({ serverId }: { serverId: string }): Promise<BackupRecord | null> => deps.sharedBackup(serverId),

    async notify(input: NotifyInput): Promise<void> {
      if (!(await deps.notify(input))) throw unknownHere(`target ${input.target}`);
    },

    async callHeartbeat({ name }: { name: string }): Promise<void> {
      if (!(await deps.callHeartbeat(name))) throw unknownHere(`heartbeat ${name}`);
    },
  };
}

/** Another worker may know it: while the configuration is changed they differ. At first the others are tried soon. */
function unknownHere(what: string): ApplicationFailure {
  const message = `the worker that was asked has no ${what} in its belay.yaml`;
  const soon = activityInfo().attempt <= SOON_ATTEMPTS ? { nextRetryDelay: SOON_MS } : {};
  return ApplicationFailure.create({ type: 'NotConfigured', message, ...soon });
}
