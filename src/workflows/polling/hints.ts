/**
 * Hints ask for a read now. A flood of them costs a bounded number of reads. A hint may carry the claim of an event,
 * and only a read that began after the hint arrived can confirm the claim.
 */
import { defineSignal, setHandler } from '@temporalio/workflow';
import { SIGNALS } from '../../contract/names.ts';
import type { Claim, Hint } from '../../contract/polling.ts';
import { HISTORY_BUDGET } from '../../contract/history-budget.ts';
import { concernsService, type ServedService } from '../../contract/service-identity.ts';
import { TIMING } from '../../contract/timing.ts';

const MAX_CLAIMS = 100;

const hintSignal = defineSignal<[Hint?]>(SIGNALS.hint);

export type Hints = ReturnType<typeof keepHints>;

interface HintOptions {
  /** The tries of the poll loop that the hints are for. */
  tries: number;
  service: ServedService;
  /** Whether a claim is about the backup or site that is polled. */
  concerns: (claim: Claim) => boolean;
}

export function keepHints({ tries, service, concerns }: HintOptions) {
  const maxReads = Math.min(2 * tries, HISTORY_BUDGET.maxHintedReads);
  const claims: Claim[] = [];
  let pending = false;
  let arrivedMs = 0;
  let reads = 0;
  let lastMs = -Infinity;
  const known = (kind: Claim['kind'], id: string) => claims.find((it) => it.kind === kind && idOf(it) === id);
  const receive = (hint?: Partial<Hint> | null) => {
    const { claim = null, services } = hint ?? {};
    if (!concernsService(services, service)) return;
    const isNew = claim !== null && concerns(claim) && known(claim.kind, idOf(claim)) === undefined;
    const isKept = isNew && claims.length < MAX_CLAIMS;
    if (isKept) claims.push(claim);
    // A new claim always gets a read.
    if (pending || (reads >= maxReads && !isKept)) return;
    pending = true;
    arrivedMs = Date.now();
  };
  setHandler(hintSignal, receive, { description: 'Read the status now. Only the status decides, never the hint.' });
  return {
    /** A hint arrived and no read has followed it yet. */
    get pending() {
      return pending;
    },
    /** The earliest time to read for a pending hint, or null. */
    readableAtMs: (nowMs: number) => (pending ? Math.max(nowMs, lastMs + TIMING.poll.hintGapMs) : null),
    ask(nowMs: number): void {
      if (!pending) arrivedMs = nowMs;
      pending = true;
    },
    /** Call it before the read, so that a hint during the read asks for another one. @returns when the hint arrived */
    take(nowMs: number): number {
      pending = false;
      reads += 1;
      lastMs = nowMs;
      return arrivedMs;
    },
    /** The event that claims this, if a read has begun since; or null. */
    claimed: (kind: Claim['kind'], id: string) => (pending ? null : (known(kind, id)?.event ?? null)),
  };
}

const idOf = (claim: Claim): string => (claim.kind === 'backup.failed' ? claim.backupId : claim.siteId);
