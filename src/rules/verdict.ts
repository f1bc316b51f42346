/**
 * Decides whether a final status is that of our deployment. The latest-deployment endpoint returns a status without an
 * id, so a verdict needs evidence. Pure: times are milliseconds since 1970.
 */
import { EVIDENCE, type Evidence } from '../contract/names.ts';
import type { ReadResult } from '../contract/activities.ts';
import { normalizeStatus } from '../contract/wording/status-word.ts';

export type StatusReading = Extract<ReadResult, { ok: true }>;

const SETTLED_READS = 4;

export interface VerdictContext {
  /** The status just before the trigger; null if the site had never been deployed. */
  baseline: StatusReading | null;
  /**
   * Since when the trigger is known to be accepted and the service answers. While it is null, no status counts as
   * settled.
   */
  acceptedMs: number | null;
  /** The ids of the deployment in the trigger's answer, such as `id:17`. */
  triggerIds: readonly string[];
  settleMs: number;
  minEvidence: Evidence;
  /** What the site itself has shown, before the status was read, that it did not show before the trigger. */
  shownBySite?: 'identity' | 'changed' | null;
}

/** What reads have shown since the trigger. */
export interface Observations {
  inProgress: boolean;
  /** The final word of the last read, normalized; null while in progress. */
  finalWord: string | null;
  /** Reads in a row since the acceptance that returned this word. Hinted reads do not count. */
  sameFinalReads: number;
}

export const NO_OBSERVATIONS: Observations = { inProgress: false, finalWord: null, sameFinalReads: 0 };

/** Only reads after the acceptance, and after an outage, count towards the settle time. */
export const sinceAcceptance = (seen: Observations): Observations => ({ ...seen, sameFinalReads: 0 });

/**
 * The context after an outage. The service may have done nothing meanwhile, and still show the status from before the
 * trigger, so the settle time starts again.
 */
export const settleAgain = (context: VerdictContext, nowMs: number): VerdictContext =>
  context.acceptedMs === null ? context : { ...context, acceptedMs: nowMs };

export type Verdict =
  | { kind: 'verdict'; outcome: 'completed' | 'failed'; evidence: Evidence }
  /** The evidence is too weak, and no stronger evidence can be expected. */
  | { kind: 'unproven'; evidence: Evidence }
  | null;

/** @param own false for a read that followed a hint */
export function observe(seen: Observations, reading: StatusReading, own: boolean): Observations {
  if (reading.state === 'in_progress') return { inProgress: true, finalWord: null, sameFinalReads: 0 };
  const finalWord = normalizeStatus(reading.status);
  const before = finalWord === seen.finalWord ? seen.sameFinalReads : 0;
  return { ...seen, finalWord, sameFinalReads: before + (own ? 1 : 0) };
}

/** @param seen observations that include this reading */
export function decideVerdict(
  context: VerdictContext,
  seen: Observations,
  reading: StatusReading,
  nowMs: number,
): Verdict {
  if (reading.state === 'in_progress') return null;
  const evidence = evidenceFor(context, seen, reading, nowMs);
  if (evidence !== null && isEnough(evidence, context.minEvidence)) {
    return { kind: 'verdict', outcome: reading.state, evidence };
  }
  return evidence !== null && settleTimeIsOver(context, nowMs) ? { kind: 'unproven', evidence } : null;
}

/** The strongest evidence that this final status belongs to our deployment, or null. */
export function evidenceFor(
  context: VerdictContext,
  seen: Observations,
  reading: StatusReading,
  nowMs: number,
): Evidence | null {
  if (showsIdentity(context, reading) || context.shownBySite === 'identity') return 'identity';
  if (seen.inProgress) return 'transition';
  const { baseline } = context;
  if (baseline !== null && !sameStatus(baseline, reading)) return 'changed';
  if (context.shownBySite === 'changed') return 'changed';
  const settled = seen.sameFinalReads >= SETTLED_READS && settleTimeIsOver(context, nowMs);
  if (!settled) return null;
  // Without a baseline, a status proves that something was deployed. It has to last, because a 404 may be wrong.
  return baseline === null ? 'changed' : 'settled';
}

/** A trace of a deployment that began after the baseline, used to reconcile an ambiguous trigger; or null. */
export function traceOf(baseline: StatusReading | null, reading: StatusReading): Evidence | null {
  if (reading.state === 'in_progress') return 'transition';
  return sameStatus(baseline, reading) ? null : 'changed';
}

function showsIdentity({ triggerIds, baseline }: VerdictContext, reading: StatusReading): boolean {
  return triggerIds.some((id) => reading.identityMarkers.includes(id) && !baseline?.identityMarkers.includes(id));
}

/**
 * The ids among the identity markers of a trigger's answer. A push may share the commit or the second with our
 * deployment, so those identify nothing. Neither does the id of the site or its server.
 */
export function deploymentIds(markers: readonly string[], otherIds: readonly string[]): string[] {
  const others = otherIds.map((id) => `id:${id}`);
  return markers.filter((marker) => marker.startsWith('id:') && !others.includes(marker));
}

function settleTimeIsOver({ acceptedMs, settleMs }: VerdictContext, nowMs: number): boolean {
  return acceptedMs !== null && nowMs - acceptedMs >= settleMs;
}

function sameStatus(baseline: StatusReading | null, reading: StatusReading): boolean {
  return baseline !== null && normalizeStatus(baseline.status) === normalizeStatus(reading.status);
}

function isEnough(evidence: Evidence, minimum: Evidence): boolean {
  return EVIDENCE.indexOf(evidence) <= EVIDENCE.indexOf(minimum);
}
