/**
 * Hints: somebody says that there is something to read. A flood of them costs a bounded number of reads. A hint may
 * carry what an event claims; only a read that began after it was heard can bear it out.
 */
import { defineSignal, setHandler } from '@temporalio/workflow';
import { SIGNALS } from '../../contract/run.ts';
import type { Claim, Hint } from '../../contract/event.ts';

const MIN_GAP_MS = 1_000;
/** Two thousand tries, and so many more, of a slow service stay inside Temporal's limit of 51,200 events. */
const MAX_HINTED_READS = 1_000;
const MAX_CLAIMS = 100;

export const hintSignal = defineSignal<[Hint?]>(SIGNALS.hint);

export interface Hints {
  /** A hint came and was not yet followed by a read. */
  readonly pending: boolean;
  /** When a pending hint may be followed by a read; null without one, or when the reads are used up. */
  readableAtMs(nowMs: number): number | null;
  /** To be called before the read: a hint during it asks for another one. */
  take(nowMs: number): void;
  /** The event that says that this backup failed, if a read has begun since; or null. */
  failedBackup(backupId: string): string | null;
  /** The event that says that this site was deleted, if a read has begun since; or null. */
  deletedSite(siteId: string): string | null;
}

/**
 * Keeps hints from now on.
 * @param tries of the wait they are for
 * @param concerns whether a claim is about what is waited for
 */
export function keepHints(tries: number, concerns: (claim: Claim) => boolean): Hints {
  const maxReads = Math.min(2 * tries, MAX_HINTED_READS);
  const claims: Claim[] = [];
  let pending = false;
  let reads = 0;
  let lastMs = -Infinity;
  const description = 'Read the status now; what is read decides, the hint never does.';
  const hear = (hint?: Partial<Hint>) => {
    const claim = hint?.claim ?? null;
    const isNew = claim !== null && concerns(claim) && !claims.some((known) => isSame(known, claim));
    const isKept = isNew && claims.length < MAX_CLAIMS;
    if (isKept) claims.push(claim);
    // One read for a claim that is new there is always.
    pending ||= reads < maxReads || isKept;
  };
  setHandler(hintSignal, hear, { description });
  const claimed = (matches: (claim: Claim) => boolean) => (pending ? null : (claims.find(matches)?.event ?? null));
  return {
    get pending() {
      return pending;
    },
    readableAtMs: (nowMs) => (pending ? Math.max(nowMs, lastMs + MIN_GAP_MS) : null),
    take: (nowMs) => {
      pending = false;
      reads += 1;
      lastMs = nowMs;
    },
    failedBackup: (backupId) => claimed((claim) => claim.kind === 'backup.failed' && claim.backupId === backupId),
    deletedSite: (siteId) => claimed((claim) => claim.kind === 'resource.deleted' && claim.siteId === siteId),
  };
}

function isSame(a: Claim, b: Claim): boolean {
  if (a.kind === 'backup.failed') return b.kind === a.kind && b.backupId === a.backupId;
  return b.kind === a.kind && b.siteId === a.siteId;
}
