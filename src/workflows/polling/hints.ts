/**
 * Hints ask for a read now. A flood of them costs a bounded number of reads. A hint may carry the claim of an event,
 * and only a read that began after the hint arrived can confirm the claim.
 */
import { defineSignal, setHandler } from '@temporalio/workflow';
import { SIGNALS } from '../../contract/names.ts';
import type { Claim, Hint } from '../../features/events/shapes.ts';
import { HISTORY_BUDGET } from '../../contract/history-budget.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { concernsService, type ServedService } from '../../contract/service-identity.ts';
import { TIMING } from '../../contract/timing.ts';

const MAX_CLAIMS = 100;

const hintSignal = defineSignal<[Hint?]>(SIGNALS.hint);

export interface Hints {
  /** A hint arrived and no read has followed it yet. */
  readonly pending: boolean;
  /** The earliest time to read for a pending hint; null if there is none, or if no hinted reads are left. */
  readableAtMs(nowMs: number): number | null;
  /** Asks for a read by itself. */
  ask(nowMs: number): void;
  /** Call it before the read, so that a hint during the read asks for another one. @returns when the hint arrived */
  take(nowMs: number): number;
  /** The event that reports this backup as failed, if a read has begun since; or null. */
  failedBackup(backupId: string): string | null;
  /** The event that reports this site as deleted, if a read has begun since; or null. */
  deletedSite(siteId: string): string | null;
}

export interface HintOptions {
  /** The tries of the poll loop that the hints are for. */
  tries: number;
  /** The service that is polled; null while it is unknown. */
  served: () => ServedService | null;
  /** Whether a claim is about the backup or site that is polled. */
  concerns: (claim: Claim) => boolean;
}

/** Collects hints from now on. */
export function keepHints({ tries, served, concerns }: HintOptions): Hints {
  const maxReads = Math.min(2 * tries, HISTORY_BUDGET.maxHintedReads);
  const kept: (Pick<Hint, 'services'> & { claim: Claim })[] = [];
  let pending = false;
  let arrivedMs = 0;
  let reads = 0;
  let lastMs = -Infinity;
  const description = 'Read the status now. Only the status decides, never the hint.';
  const isOurs = ({ services }: Partial<Hint>) => {
    const service = served();
    return service === null || concernsService(services, service);
  };
  const receive = (hint?: Partial<Hint>) => {
    if (!isOurs(hint ?? {})) return;
    const claim = hint?.claim ?? null;
    const isNew = claim !== null && concerns(claim) && !kept.some((known) => isSame(known.claim, claim));
    const isKept = isNew && kept.length < MAX_CLAIMS;
    if (isKept) kept.push({ claim, ...definedFields({ services: hint?.services }) });
    // A new claim always gets a read.
    if (pending || (reads >= maxReads && !isKept)) return;
    pending = true;
    arrivedMs = Date.now();
  };
  setHandler(hintSignal, receive, { description });
  const claimed = (matches: (claim: Claim) => boolean) => {
    const found = kept.find((it) => isOurs(it) && matches(it.claim));
    return pending ? null : (found?.claim.event ?? null);
  };
  return {
    get pending() {
      return pending;
    },
    readableAtMs: (nowMs) => (pending ? Math.max(nowMs, lastMs + TIMING.poll.hintGapMs) : null),
    ask(nowMs) {
      if (!pending) arrivedMs = nowMs;
      pending = true;
    },
    take: (nowMs) => {
      pending = false;
      reads += 1;
      lastMs = nowMs;
      return arrivedMs;
    },
    failedBackup: (backupId) => claimed((claim) => claim.kind === 'backup.failed' && claim.backupId === backupId),
    deletedSite: (siteId) => claimed((claim) => claim.kind === 'resource.deleted' && claim.siteId === siteId),
  };
}

function isSame(a: Claim, b: Claim): boolean {
  if (a.kind === 'backup.failed') return b.kind === a.kind && b.backupId === a.backupId;
  return b.kind === a.kind && b.siteId === a.siteId;
}
