/** What holds a deployment or backup back. Stored in histories: add, never rename or remove. */
import type { FactName } from '../../contract/facts.ts';
import type { RunError } from '../../contract/run.ts';
import type { Target, TargetsInput } from '../../contract/target.ts';

export type BlockedAction = 'deploy' | 'backup';

/** `reason`: a run may be let off, with a reason. */
export type OverrideRule = 'reason' | 'never';

/** What an ad-hoc freeze is for. Its workflow id is made from it. */
export type FreezeScope = { kind: 'all' } | { kind: 'fleet' | 'server' | 'site' | 'app'; id: string };

/** A freeze that a person set. It holds while its workflow runs, until this time at the latest. */
export interface AdHocFreeze {
  scope: FreezeScope;
  /** When it was set, ISO 8601. An extension keeps it. */
  since: string;
  until: string;
  reason: string;
  by: string;
  blocks: BlockedAction[];
  override: OverrideRule;
}

/** What a worker says of a freeze that begins. */
export interface FreezeWord {
  /** Why it would not be in force; null if it is. */
  problem: string | null;
  /** What the person who set it may not expect; null if nothing. */
  note: string | null;
}

/** The memo of the workflow, which workers read before each request. It is there before any worker sees the workflow. */
export interface FreezeMemo {
  freeze: AdHocFreeze;
}

/** One that runs now, as Temporal shows it. */
export interface RunningFreeze {
  workflowId: string;
  /** Null if its memo is not that of a freeze. It holds all the same. */
  freeze: AdHocFreeze | null;
}

export interface FrozenBy {
  kind: 'freeze' | 'window';
  /** Its name in belay.yaml, or the workflow id of an ad-hoc freeze. */
  name: string;
  reason: string;
  /** When it ends, ISO 8601; null if that is not known. */
  until: string | null;
  /** For people: until when, on the clocks of its time zone. */
  untilText: string;
  /** Who set it. Absent for what is in belay.yaml. */
  by?: string;
  /** No run may be let off. */
  override?: 'never';
}

/** Lets a run off freezes and windows. */
export interface FreezeOverride {
  /** Names in belay.yaml, or workflow ids of ad-hoc freezes. */
  freezes: string[];
  reason: string;
  /** Who decides. Default: who uses the connection. */
  by?: string;
}

/** What a run is let off, as recorded when it begins. Another freeze with the same name holds it back all the same. */
export interface LetOff {
  kind: 'freeze' | 'window';
  name: string;
  /** When the ad-hoc freeze was set. Absent for what is in belay.yaml. */
  since?: string;
}

/** A worker's answer to an override. */
export type OverrideAnswer = { letOff: LetOff[] } | { error: RunError };

/** Asks a worker what of this is frozen. */
export interface FreezeQuestion extends TargetsInput {
  serverId?: string;
  /** The one that the run names. */
  fleet?: string;
  /** Whether a backup of the server is to be made. */
  backsUp: boolean;
  /** Whether targets after the first one may go if it is frozen. */
  keepGoing?: boolean;
  letOff?: LetOff[];
  /** By Temporal's clock, in milliseconds since 1970. */
  atMs: number;
}

/** What of a run is frozen. */
export interface FrozenParts {
  /** Empty if the backup may be made. */
  backup: FrozenBy[];
  /** Only the targets that may not be deployed. */
  deployments: { target: Target; by: FrozenBy[] }[];
}

/** What a worker answers when it is asked what is frozen. */
export interface FreezeAnswer {
  /** Null if nothing is. */
  frozen: FrozenParts | null;
  /** Its own. A rollout that was restored does not know which servers it started. */
  epoch: string;
}

/** A freeze, window, approval or gate that a run or rollout waited for; or a freeze or check that it was let off. */
export interface Held {
  for: 'freeze' | 'window' | 'approval' | 'check' | 'gate';
  name: string;
  /** When it was first met, or when the run was let off, ISO 8601. */
  from: string;
  /** Null while it is waited for. */
  to: string | null;
  /**
   * `passed`: it no longer holds. `gave_up`: it would have lasted too long, no one approved in time, or a gate stayed
   * inconclusive. Null while it is waited for.
   */
  end: 'passed' | 'failed' | 'gave_up' | 'cancelled' | 'overridden' | 'approved' | 'rejected' | null;
  /** Who set it, who overrode it, or who decided; null for what is in belay.yaml. */
  by: string | null;
  /** The reason of the freeze, of the override, or of the decision. */
  why: string;
  /** Of an approval: what proves who decided, such as the fingerprint of a key. */
  proof?: string;
}

export const FREEZES_FACT: FactName<{
  /** Only of a run, and if something of it is frozen. */
  frozen?: FrozenParts;
  /** Only of what overrides freezes. */
  override?: OverrideAnswer;
}> = { name: 'freezes' };
