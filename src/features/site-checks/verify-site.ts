/** The reads of a site after the service has reported its deployment as completed. */
import { readText } from './text.ts';
import { plainText } from '../../contract/safe-text.ts';
import { afterRead, decideCheck, kindOf, NOTHING_SEEN, type CheckSeen, type CheckVerdict } from './rules.ts';
import { COMPLETED, conclude, type Conclusion } from '../../workflows/conclusion.ts';
import { sleepUntil } from '../../workflows/polling/poll-until.ts';
import { unlessCancelled } from '../../workflows/polling/turn.ts';
import type { Checking } from './site-check.ts';

/** Reads in a row that no worker finished. */
const MAX_LOST_IN_A_ROW = 10;

/** @param goodInARow of before: they use up no try */
export async function verifySite(checking: Checking, goodInARow: number): Promise<Conclusion> {
  const { operation, aim, found } = checking;
  operation.setPhase('verify');
  const beganMs = Date.now();
  let seen: CheckSeen = { ...NOTHING_SEEN, goodInARow };
  let lost = 0;
  for (let turn = 0; ; turn += 1) {
    const dueMs = turn === 0 ? beganMs : Math.max(beganMs + turn * aim.intervalMs, Date.now() + 1);
    const answer = await nextRead(checking, seen, dueMs);
    if (operation.cancellation.requested) return cutShort(aim.siteId);
    lost = answer === null ? lost + 1 : 0;
    if (lost === MAX_LOST_IN_A_ROW) {
      const message = `check ${aim.name}: ${lost} reads in a row were lost`;
      return decided(checking, { outcome: 'unknown', message });
    }
    if (answer === null) continue;
    seen = afterRead(seen, kindOf(aim, found.baseline, answer), answer);
    Object.assign(found, { reads: seen.reads, goodReads: seen.counts.good, last: answer });
    const verdict = decideCheck(aim, found.baseline, seen);
    if (verdict !== null) return decided(checking, verdict);
  }
}

/** @returns null if it was lost, or once cancelled */
async function nextRead({ operation, aim, found, read }: Checking, seen: CheckSeen, dueMs: number) {
  const { siteId, name, tries, inARow } = aim;
  const attempt = Math.min(seen.reads + 1, tries);
  const what = `read ${attempt} of ${tries}`;
  operation.setWaiting({
    ...{ kind: 'check', siteId, check: name, try: attempt, tries, goodInARow: seen.goodInARow, inARow },
    last: found.last === null ? null : readText(found.last),
    nextReadAt: new Date(dueMs).toISOString(),
  });
  const slept = await sleepUntil(operation, dueMs, checkSummary(aim, what));
  return slept === 'cancelled' ? null : unlessCancelled(operation, read(what));
}

/** Of a timer or a read in the UI. */
export const checkSummary = ({ siteId, name }: Checking['aim'], what: string): string =>
  plainText(`check ${name} of ${siteId}: ${what}`, 100);

function decided({ aim: { siteId }, found }: Checking, verdict: CheckVerdict): Conclusion {
  found.outcome = verdict.outcome;
  if (verdict.outcome === 'passed') return COMPLETED;
  const message = `the service reports that the deployment of site ${siteId} completed; ${verdict.message}`;
  if (verdict.outcome === 'failed') return conclude('failed', 'CheckFailed', message);
  return conclude('unknown', 'OutcomeUnknown', message);
}

function cutShort(siteId: string): Conclusion {
  const message = `the service reports that the deployment of site ${siteId} completed, and its check was cut short`;
  return conclude('cancelled', 'Cancelled', `cancelled; ${message}`);
}
