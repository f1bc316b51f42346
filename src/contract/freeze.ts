/** What holds a deployment or backup back. Stored in histories: add, never rename or remove. */
import type { Target } from './target.ts';

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
}

/** What of a run is frozen when it begins. */
export interface FrozenParts {
  /** Empty if the backup may be made. */
  backup: FrozenBy[];
  /** Only the targets that may not be deployed. */
  deployments: { target: Target; by: FrozenBy[] }[];
}
