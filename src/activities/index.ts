/** All activities, made from what they need. Their names and payloads are stored in running histories. */
import type { BackupEnd } from '../contract/run.ts';
import type { WorkerFacts } from '../contract/activities.ts';
import { createEventActivities, type EventDeps } from './events.ts';
import type { Slot } from '../contract/rollout.ts';
import { slotOf } from '../request/calendar/local-time.ts';
import type { ServiceClient } from '../hosting-api/index.ts';
import { createReads } from './http/read-status.ts';
import type { StatusWords } from './http/statuses.ts';
import { createTriggers } from './http/post-trigger.ts';

export interface ActivityDeps extends EventDeps {
  service: ServiceClient;
  statuses: StatusWords;
  facts: WorkerFacts;
  findBackup: (query: BackupQuery) => Promise<BackupEnd | null>;
  /** The run whose operation has this id now, or null. */
  findHolder: (lockId: string) => Promise<string | null>;
}

export interface BackupQuery {
  serverId: string;
  /** The oldest beginning that will do. */
  startedSince: string;
}

export interface SlotQuery {
  slot: Slot;
  timeZone: string;
  firedAt: string;
}

export function createActivities({ service, statuses, facts, findBackup, findHolder, ...events }: ActivityDeps) {
  return {
    ...createReads({ service, statuses }),
    ...createTriggers({ service }),
    ...createEventActivities(events),

    /** What the worker that runs this says of itself. */
    describeWorker: (): Promise<WorkerFacts> => Promise.resolve(facts),

    /** The newest completed backup of ours that began late enough, or null. */
    findBackup: (query: BackupQuery): Promise<BackupEnd | null> => findBackup(query),

    findHolder: ({ lockId }: { lockId: string }): Promise<string | null> => findHolder(lockId),

    /** What one firing of a schedule is for. */
    findSlot: ({ slot, timeZone, firedAt }: SlotQuery): Promise<string> =>
      Promise.resolve(slotOf(slot, timeZone, firedAt)),
  };
}

export type Activities = ReturnType<typeof createActivities>;
