/** The rules of a policy, as the workers apply them. */
import type { BlockedAction, OverrideRule } from './shapes.ts';
import type { Target } from '../../contract/target.ts';
import type { Recurrence } from '../../request/calendar/local-spans.ts';

/** What an entry is for. Any value of a key has to fit, and every key. Without keys, it is for everything. */
export interface Scope {
  fleets?: string[] | undefined;
  servers?: string[] | undefined;
  sites?: string[] | undefined;
  apps?: string[] | undefined;
  labels?: Record<string, string> | undefined;
}

/** Where an operation happens. */
export interface Place {
  /** What is deployed, or everything on the server that is backed up. */
  targets: Target[];
  /** The server of the inventory, and the one that the run names. */
  serverIds: string[];
  /** Null if no fleet has it. */
  fleet: string | null;
  labels: Record<string, string>;
}

/** Local times, in milliseconds since 1970 as if the zone were UTC. */
interface LocalSpan {
  fromMs: number;
  toMs: number;
  timeZone: string;
}

export interface FreezeRule {
  name: string;
  when: Recurrence | LocalSpan;
  scope: Scope;
  reason: string;
  blocks: readonly BlockedAction[];
  override: OverrideRule;
}

export interface WindowRule {
  name: string;
  when: Recurrence;
  scope: Scope;
  /** Nothing begins in this last part of a window. */
  marginMs: number;
}

export interface FreezeRules {
  freezes: readonly FreezeRule[];
  windows: readonly WindowRule[];
}
