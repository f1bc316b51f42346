/** What an overview knows of a run or rollout in flight, and for how long that holds. Pure. */
import { TIMING } from '../../contract/timing.ts';
import type { RolloutStatus } from '../rollouts/rollout-status.ts';
import type { RunStatus } from '../../client/runs/run-status.ts';

/** A rollout is without its targets. */
export type Seen = { kind: 'run'; status: RunStatus } | { kind: 'rollout'; status: RolloutStatus };

export type InFlight = Seen & {
  workflowId: string;
  /** ISO 8601. Null as long as only Temporal's list shows it, with its phase and no more. */
  askedAt: string | null;
  /** Whether it waits for people or for a service that is down, or no worker continues it. */
  needsAttention: boolean;
};

const startedMs = ({ status }: Seen): number => Date.parse(status.result.startedAt ?? '') || 0;

/** A service that restarts fails one read or two. */
const READS_OF_AN_OUTAGE = 3;

export function needsAttention(seen: Seen, nowMs: number): boolean {
  const { contact } = seen.status;
  if (contact === 'not_begun') return nowMs - startedMs(seen) >= TIMING.cli.beginsWithinMs;
  if (contact !== 'answers') return contact !== 'closed';
  const { waiting, result } = seen.status;
  if (waiting?.kind === 'approval' || waiting?.kind === 'decision' || result.phase === 'parked') return true;
  return waiting !== null && 'failing' in waiting && (waiting.failing?.reads ?? 0) >= READS_OF_AN_OUTAGE;
}

/** For sorting: those that need attention first, then rollouts, then runs; the newest first. */
export function byUrgency(a: InFlight, b: InFlight): number {
  const rank = (it: InFlight) => (it.needsAttention ? 0 : it.kind === 'rollout' ? 1 : 2);
  return rank(a) - rank(b) || startedMs(b) - startedMs(a) || a.workflowId.localeCompare(b.workflowId);
}

/** How long it is not asked about again. What only a query answers is asked rarely: a query is an Action. */
export function holdsForMs(seen: Seen, nowMs: number): number {
  const { leastPauseMs } = TIMING.overview;
  const { readMs, maxAgeMs } = TIMING.progress;
  const { contact } = seen.status;
  if (contact === 'not_begun') return leastPauseMs;
  if (seen.kind === 'rollout' || contact !== 'answers') return maxAgeMs;
  const { waiting } = seen.status;
  if (waiting === null) return leastPauseMs;
  if (!('nextReadAt' in waiting)) return maxAgeMs;
  const untilReadMs = Date.parse(waiting.nextReadAt) - nowMs + readMs;
  return Math.min(Math.max(untilReadMs, leastPauseMs), maxAgeMs);
}

/** Whether a read should have been made a while ago: only the run itself shows whether a worker is still there. */
export function isOverdue({ waiting }: RunStatus, nowMs: number): boolean {
  if (waiting === null || !('nextReadAt' in waiting)) return false;
  return nowMs - Date.parse(waiting.nextReadAt) > TIMING.progress.silentMs;
}
