/** Events, and the hints they cause. Stored in running histories: add, never rename or remove. */
import type { BackupRecord, BackupRecordKind } from '../../contract/operation.ts';
import type { Claim, Hint } from '../../contract/polling.ts';

/** The kinds of events that the service's interface names. Every other event is `unknown`. */
export const EVENT_KINDS = ['alert.fired', 'backup.started', 'backup.failed', 'resource.deleted', 'unknown'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/**
 * What an event causes. `hold`: rollouts do not start that server. `end-wait`: the event may end a wait, after a read.
 * `share`: the next run that needs this backup uses it. `notify`: Belay sends a notification.
 */
export type Reaction = 'hold' | 'end-wait' | 'share' | 'notify';

/** How Belay interprets a delivery. Ids are the service's own. They are null if the delivery names none. */
export interface ServiceEvent {
  kind: EventKind;
  /** The sender's own word for the kind. */
  rawKind: string | null;
  serverId: string | null;
  siteId: string | null;
  backupId: string | null;
  /** When it happened, according to the sender. */
  at: string | null;
}

export interface EventInput {
  /**
   * The identity of the service that sent the event. Absent if the receiver did not know it: workers then assume their
   * own.
   */
  service?: string;
  source: string;
  deliveryId: string;
  /** Whether the sender proved that it knows the secret of the source. */
  verified: boolean;
  receivedAt: string;
  /**
   * How long after its receipt an event may have effects. An event that is handled later wakes, holds and shares
   * nothing. It came too late if this is 0 or less.
   */
  freshForMs: number;
  event: ServiceEvent;
  reactions: Reaction[];
  /** The body of the delivery, redacted and shortened. */
  body: unknown;
}

export type EventMemo = Pick<EventInput, 'service' | 'source' | 'verified' | 'receivedAt' | 'event'>;

export interface EventResult {
  /** Ids of the workflows that were signalled to read now. */
  woken: string[];
  /** Whether the next run may use the backup. */
  shared: boolean;
  /** Names of the channels that received a notification. */
  notified: string[];
  /** Ids of the rollouts that hold the server. Absent in results of older versions. */
  held?: string[];
  /** The event was handled too long after it happened, so it woke, held and shared nothing. Absent otherwise. */
  late?: true;
  /** The workers serve this other service, so the event only caused notifications. Absent otherwise. */
  otherThan?: string;
}

/* Hints. */

/** Every identity of the service that sent the event. Absent in older messages. */
type OfService = Pick<Hint, 'services'>;

export interface WakeInput extends OfService {
  serverId: string | null;
  siteId: string | null;
  claim: Claim | null;
  excludeWorkflowIds: string[];
}

/* Backups by their ids. */

/** Only records of `services` count. */
export interface ServersQuery extends OfService {
  backupId: string;
}

/** Only records of `services` count. */
export interface SharedBackupQuery extends OfService {
  serverId: string;
}

export interface RecordInput {
  kind: BackupRecordKind;
  record: BackupRecord;
}

/* What an event is about, as text. Pure. */

/** `server 12`, `site a1`, `backup 1000`: one entry for each id in the event. @param shown formats an id for display */
export function eventSubjects(
  { serverId, siteId, backupId }: Pick<ServiceEvent, 'serverId' | 'siteId' | 'backupId'>,
  shown: (id: string) => string,
): string[] {
  return Object.entries({ server: serverId, site: siteId, backup: backupId }).flatMap(([what, id]) =>
    id === null ? [] : [`${what} ${shown(id)}`],
  );
}
