/** Freezes and windows, and what they hold back. Histories store these shapes: add, never rename or remove. */
import type { FactName } from '../../contract/facts.ts';
import type { RunError } from '../../contract/run.ts';
import type { Target, TargetsInput } from '../../contract/target.ts';

export type BlockedAction = 'deploy' | 'backup';

/** Whether a run may be exempted from a freeze. `reason`: yes, if it gives a reason. */
export type OverrideRule = 'reason' | 'never';

/** What an ad-hoc freeze is for. Its workflow id is made from this. */
export type FreezeScope = { kind: 'all' } | { kind: 'fleet' | 'server' | 'site' | 'app'; id: string };

/** The kinds of scopes that have an id. */
export const SCOPE_KINDS = ['fleet', 'server', 'site', 'app'] as const satisfies FreezeScope['kind'][];

/** A freeze that a person set. It holds while its workflow runs, until `until` at the latest. */
export interface AdHocFreeze {
  scope: FreezeScope;
  /** When the freeze was set, ISO 8601. An extension keeps this time. */
  since: string;
  until: string;
  reason: string;
  by: string;
  blocks: BlockedAction[];
  override: OverrideRule;
}

/** What a worker says about a freeze that begins. */
export interface FreezeConfirmation {
  /** Why the freeze would not be in force. Null if it is in force. */
  problem: string | null;
  /** What the person who set the freeze may not expect. Null if there is nothing to say. */
  note: string | null;
}

/** The memo of the workflow. Workers read it before each request, and it exists before any worker sees the workflow. */
export interface FreezeMemo {
  freeze: AdHocFreeze;
}

/** An ad-hoc freeze that is running now, as Temporal shows it. */
export interface RunningFreeze {
  workflowId: string;
  /** Null if the memo is not that of a freeze, or cannot be decoded. The freeze still holds, and holds everything. */
  freeze: AdHocFreeze | null;
  /** Why the memo cannot be decoded. Absent if it can. */
  unreadable?: string;
}

export interface FrozenBy {
  kind: 'freeze' | 'window';
  /** The name in belay.yaml, or the workflow id of an ad-hoc freeze. */
  name: string;
  reason: string;
  /** When it ends, ISO 8601. Null if that is not known. */
  until: string | null;
  /** The end for people, in the local time of the freeze's time zone. */
  untilText: string;
  /** Who set the freeze. Absent for entries of belay.yaml. */
  by?: string;
  /** `never` if no run may be exempted. Absent otherwise. */
  override?: 'never';
}

/** Exempts a run from freezes and windows. */
export interface FreezeOverride {
  /** Names in belay.yaml, or workflow ids of ad-hoc freezes. */
  freezes: string[];
  reason: string;
  /** Who decides. Default: who uses the connection. */
  by?: string;
}

/**
 * A freeze or window that a run is exempted from, as recorded at its start. A later freeze with the same name still
 * holds the run back.
 */
export interface LetOff {
  kind: 'freeze' | 'window';
  name: string;
  /** When the ad-hoc freeze was set. Absent for entries of belay.yaml. */
  since?: string;
}

export type OverrideAnswer = { letOff: LetOff[] } | { error: RunError };

export interface FreezeQuestion extends TargetsInput {
  serverId?: string;
  /** The fleet that the run names. */
  fleet?: string;
  backsUp: boolean;
  /** Whether later targets may go although the first one is frozen. */
  keepGoing?: boolean;
  letOff?: LetOff[];
  /** In milliseconds since 1970, by Temporal's clock. */
  atMs: number;
}

export interface FrozenParts {
  /** Empty if the backup may be made. */
  backup: FrozenBy[];
  /** Only the targets that may not be deployed. */
  deployments: { target: Target; by: FrozenBy[] }[];
}

export interface FreezeAnswer {
  frozen: FrozenParts | null;
  /** The worker's own epoch. A rollout that was restored does not know which servers it started. */
  epoch: string;
}

/**
 * A freeze, window, approval or gate that a run or rollout waited for, or a freeze or check that it was exempted from.
 */
export interface Held {
  for: 'freeze' | 'window' | 'approval' | 'check' | 'gate';
  name: string;
  /** When the run or rollout first met it or was exempted from it, ISO 8601. */
  from: string;
  /** Null while the run or rollout waits for it. */
  to: string | null;
  /**
   * `passed`: it no longer holds. `gave_up`: it would have lasted too long, too few people approved in time, or a gate
   * stayed inconclusive. Null while the run or rollout waits for it.
   */
  end: 'passed' | 'failed' | 'gave_up' | 'cancelled' | 'overridden' | 'approved' | 'rejected' | null;
  /** Who set it, overrode it or decided. Null for entries of belay.yaml. */
  by: string | null;
  /** The reason of the freeze, of the override, or of the decision. */
  why: string;
  /** What proves who decided about an approval, such as the fingerprint of a key. */
  proof?: string;
}

/** Records that a person exempted a run or rollout from this, and why. */
export function recordExempted(
  { held }: { held: Held[] },
  kind: Held['for'],
  name: string,
  { by = null, reason }: { by?: string | null; reason: string },
): void {
  const now = new Date().toISOString();
  held.push({ for: kind, name, from: now, to: now, end: 'overridden', by, why: reason });
}

export const FREEZES_FACT: FactName<{
  /** Workers answer this only to runs, and only if a part of the run is frozen. */
  frozen?: FrozenParts;
  /** Workers answer this only to runs and rollouts that override freezes. */
  override?: OverrideAnswer;
}> = { name: 'freezes' };
