/**
 * Whose deployment is it? The latest-deployment endpoint gives a status and no id, so a final status needs evidence
 * that it is that of our deployment. Pure: times are milliseconds since 1970.
 */
import { EVIDENCE, type Evidence, type ReadResult } from '../../contract/run.ts';
import { wordKey } from '../../contract/wording/safe-text.ts';

export type Sighting = Extract<ReadResult, { ok: true }>;

const SETTLED_READS = 4;

export interface Question {
  /** What the endpoint said just before the trigger; null where there was no deployment yet. */
  baseline: Sighting | null;
  /** Since when the trigger is known to be accepted; null where it isn't: then nothing is ever settled. */
  acceptedMs: number | null;
  /** What the trigger's answer said of the deployment's identity. */
  triggerMarks: readonly string[];
  settleMs: number;
  minEvidence: Evidence;
}

/** What was seen since the trigger. */
export interface Seen {
  inProgress: boolean;
  /** Reads of our own, in a row, that gave the baseline's final status; the hinted ones don't count. */
  sameFinalReads: number;
}

export const NOTHING_SEEN: Seen = { inProgress: false, sameFinalReads: 0 };

export type Verdict =
  | { kind: 'verdict'; outcome: 'completed' | 'failed'; evidence: Evidence }
  /** Nothing stronger is to be expected any more, and it is too weak. */
  | { kind: 'unproven'; evidence: Evidence }
  | null;

export function look(question: Question, seen: Seen, sighting: Sighting, own: boolean): Seen {
  if (sighting.state === 'in_progress') return { inProgress: true, sameFinalReads: 0 };
  if (!sameStatus(question.baseline, sighting)) return { ...seen, sameFinalReads: 0 };
  return { ...seen, sameFinalReads: seen.sameFinalReads + (own ? 1 : 0) };
}

/** @param seen with this sighting looked at */
export function judge(question: Question, seen: Seen, sighting: Sighting, nowMs: number): Verdict {
  if (sighting.state === 'in_progress') return null;
  const evidence = evidenceFor(question, seen, sighting, nowMs);
  if (evidence !== null && isEnough(evidence, question.minEvidence)) {
    return { kind: 'verdict', outcome: sighting.state, evidence };
  }
  return evidence !== null && settleTimeIsOver(question, nowMs) ? { kind: 'unproven', evidence } : null;
}

/** The strongest evidence that this final status is that of our deployment, or null. */
export function evidenceFor(question: Question, seen: Seen, sighting: Sighting, nowMs: number): Evidence | null {
  if (showsIdentity(question, sighting)) return 'identity';
  if (seen.inProgress) return 'transition';
  if (!sameStatus(question.baseline, sighting)) return 'changed';
  const settled = seen.sameFinalReads >= SETTLED_READS && settleTimeIsOver(question, nowMs);
  return settled ? 'settled' : null;
}

/** A trace of a deployment that began after the baseline: what an ambiguous trigger is reconciled by. */
export function traceOf(baseline: Sighting | null, sighting: Sighting): Evidence | null {
  if (sighting.state === 'in_progress') return 'transition';
  return sameStatus(baseline, sighting) ? null : 'changed';
}

function showsIdentity({ triggerMarks, baseline }: Question, sighting: Sighting): boolean {
  return sighting.marks.some((mark) => triggerMarks.includes(mark) && baseline?.marks.includes(mark) !== true);
}

function settleTimeIsOver({ acceptedMs, settleMs }: Question, nowMs: number): boolean {
  return acceptedMs !== null && nowMs - acceptedMs >= settleMs;
}

function sameStatus(baseline: Sighting | null, sighting: Sighting): boolean {
  return baseline !== null && wordKey(baseline.status) === wordKey(sighting.status);
}

function isEnough(evidence: Evidence, minimum: Evidence): boolean {
  return EVIDENCE.indexOf(evidence) <= EVIDENCE.indexOf(minimum);
}
