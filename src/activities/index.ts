/** All activities, made from what they need. Their names and payloads are stored in running histories. */
import type { BackupEnd, WorkerFacts } from '../contract.ts';
import { createEventActivities, type EventDeps } from './events.ts';
import type { ServiceClient } from '../service/index.ts';
import { createReads } from './reads.ts';
import type { StatusWords } from './statuses.ts';
import { createTriggers } from './triggers.ts';

export interface ActivityDeps extends EventDeps {
  service: ServiceClient;
  statuses: StatusWords;
  facts: WorkerFacts;
  findBackup: (query: BackupQuery) => Promise<BackupEnd | null>;
}

export interface BackupQuery {
  serverId: string;
  /** The oldest beginning that will do. */
  startedSince: string;
}

export function createActivities({ service, statuses, facts, findBackup, ...events }: ActivityDeps) {
  return {
    ...createReads({ service, statuses }),
    ...createTriggers({ service }),
    ...createEventActivities(events),

    /** What the worker that runs this says of itself. */
    describeWorker: (): Promise<WorkerFacts> => Promise.resolve(facts),

    /** The newest completed backup of ours that began late enough, or null. */
    findBackup: (query: BackupQuery): Promise<BackupEnd | null> => findBackup(query),
  };
}

export type Activities = ReturnType<typeof createActivities>;
