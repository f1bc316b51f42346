/**
 * What crosses Temporal about events and notifications; the rest is in contract.ts, whose rules hold here, too: stored
 * in running histories, so only ever add.
 */
import type { RunResult } from './run.ts';
import type { RolloutResult } from './rollout.ts';

export const EVENT_TYPE = 'handleEvent';

/** The situations the interface names; everything else a service reports is `unknown`. */
export const EVENT_KINDS = ['alert.fired', 'backup.started', 'backup.failed', 'resource.deleted', 'unknown'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/**
 * `hold`: rollouts don't begin with that server; `end-wait`: it may end a wait, after a read; `share`: the next run that needs this backup rests on it; `notify`: it
 * is told to the notification targets.
 */
export type Reaction = 'hold' | 'end-wait' | 'share' | 'notify';

/** What a delivery is taken for. Ids are the service's; null where it names none. */
export interface ServiceEvent {
  kind: EventKind;
  /** The sender's own word for the kind. */
  said: string | null;
  serverId: string | null;
  siteId: string | null;
  backupId: string | null;
  /** When it happened, by the sender's word. */
  at: string | null;
}

export interface EventInput {
  source: string;
  deliveryId: string;
  /** Whether the sender proved to hold the source's secret. */
  verified: boolean;
  receivedAt: string;
  event: ServiceEvent;
  reactions: Reaction[];
  /** Redacted and shortened. */
  body: unknown;
}

/** So that events can be listed without their histories. */
export type EventMemo = Pick<EventInput, 'source' | 'verified' | 'receivedAt' | 'event'>;

export interface EventResult {
  /** Ids of the workflows that were told to read now. */
  woken: string[];
  /** Whether the next run may rest on the backup. */
  shared: boolean;
  /** Names of the targets that were told. */
  notified: string[];
  /** Ids of the rollouts that don't begin with the server; absent in what older versions recorded. */
  held?: string[];
}

// ---- Hints -------------------------------------------------------------------------------------------------------

/** What an event says of something that is waited for: believed only where a read doesn't say otherwise. */
export type Claim =
  | { kind: 'backup.failed'; backupId: string; event: string }
  | { kind: 'resource.deleted'; siteId: string; event: string };

/** Payload of the signal `hint`; without one it means no more than: read now. */
export interface Hint {
  claim: Claim | null;
}

export interface WakeInput {
  serverId: string | null;
  siteId: string | null;
  claim: Claim | null;
  /** Workflow ids that were woken before. */
  except: string[];
}

// ---- Backups by their ids ------------------------------------------------------------------------------------------

/** Memo of a `recordBackup` workflow: found by its id at once, where search attributes lag. */
export interface BackupRecord {
  backupId: string;
  serverId: string;
  /** As far as known. */
  startedAt: string;
}

// ---- Notifications -------------------------------------------------------------------------------------------------

export type Notification =
  | { about: 'event'; id: string; source: string; verified: boolean; receivedAt: string; event: ServiceEvent }
  | { about: 'run'; id: string; result: RunResult; /** Deployments that are not in it. */ leftOut: number }
  | { about: 'rollout'; id: string; result: RolloutResult; /** Servers that are not in it. */ leftOut: number };

export interface NotifyInput {
  target: string;
  notification: Notification;
}

/** Input of `tellTargets`, the child that outlives what it tells of: no verdict waits for a chat. */
export interface TellInput {
  notification: Notification;
  targets: string[];
  heartbeat: string | null;
}
