/** Reads until a final status is known to be that of the deployment in question. */
import type { DeploymentResult, Evidence, ReadFailure } from '../../contract/run.ts';
import { ended, type End } from '../common/conclusion.ts';
import type { Reader } from '../polling/status-reader.ts';
import { startBeat } from '../rules/poll-schedule.ts';
import { evidenceFor, judge, look, type Question, type Seen, type Sighting, type Verdict } from '../rules/verdict.ts';
import { cutShort, wait } from '../polling/poll-until.ts';
import { lastRead, type Watcher } from '../polling/poller.ts';

/** Reads soon after a trigger, to catch short transitions. */
export const EARLY_READS_MS = [1_000, 3_000];

export interface Followed {
  watcher: Watcher;
  result: DeploymentResult;
  read: Reader;
  intervalMs: number;
  tries: number;
  /** Nothing was triggered: that there is no deployment is an answer. */
  notFoundAnswers?: boolean;
}

/** What was seen before the wait begins. */
export interface Start {
  seen: Seen;
  sighting: Sighting | null;
}

/** An event said that the site is gone, and the service doesn't find it either. */
interface Deleted {
  kind: 'deleted';
  message: string;
}

export async function followDeployment(followed: Followed, question: Question, start: Start): Promise<End> {
  const { watcher, result, read, intervalMs, tries, notFoundAnswers = false } = followed;
  let { seen, sighting } = start;
  const decide = (): Verdict => {
    if (seen.inProgress) result.evidence = 'transition';
    return sighting === null ? null : judge(question, seen, sighting, Date.now());
  };
  const evidence = () => (sighting === null ? null : evidenceFor(question, seen, sighting, Date.now()));
  const early = decide();
  if (early !== null) return verdictEnd(followed, early);
  const end = await wait<NonNullable<Verdict> | Deleted>(
    watcher,
    { what: 'deployment', read, beat: startBeat(Date.now(), intervalMs, EARLY_READS_MS), tries, notFoundAnswers },
    (answer, own) => {
      if (!answer.ok) return deletion(watcher, result.siteId, answer);
      sighting = answer;
      seen = look(question, seen, answer, own);
      return decide() ?? undefined;
    },
  );
  const name = `the deployment of site ${result.siteId}`;
  switch (end.end) {
    case 'judged':
      if (end.value.kind === 'deleted') return ended('unknown', 'ResourceDeleted', `${name}: ${end.value.message}`);
      return verdictEnd(followed, end.value);
    case 'given_up':
    case 'cancelled':
      return cutShort(watcher, name, end);
    default:
      return usedUp(followed, sighting, evidence());
  }
}

function deletion({ hints }: Watcher, siteId: string, { httpStatus }: ReadFailure): Deleted | undefined {
  const event = hints.deletedSite(siteId);
  if (event === null || (httpStatus !== 404 && httpStatus !== 410)) return undefined;
  return { kind: 'deleted', message: `the site was deleted, says ${event}, and the service answers ${httpStatus}` };
}

function verdictEnd({ watcher, result }: Followed, verdict: NonNullable<Verdict>): End {
  result.evidence = verdict.evidence;
  const name = `the deployment of site ${result.siteId}`;
  const said = `the service says ${lastRead(watcher)}`;
  if (verdict.kind === 'unproven') {
    return ended('unknown', 'OutcomeUnknown', `${name}: ${said}, with no better evidence than "${verdict.evidence}"`);
  }
  if (verdict.outcome === 'completed') return { outcome: 'completed', error: null };
  return ended('failed', 'DeploymentFailed', `${name} failed: ${said}`);
}

function usedUp({ watcher, result, tries }: Followed, sighting: Sighting | null, evidence: Evidence | null): End {
  const name = `the deployment of site ${result.siteId}`;
  const state = `after ${tries} tries, last status ${lastRead(watcher)}`;
  if (sighting === null) return ended('timed_out', 'DeploymentTimedOut', `${name} had not begun after ${tries} tries`);
  if (sighting.state === 'in_progress')
    return ended('timed_out', 'DeploymentTimedOut', `${name} had not ended ${state}`);
  if (evidence !== null) {
    return ended('unknown', 'OutcomeUnknown', `${name}: no better evidence than "${evidence}" ${state}`);
  }
  return ended('unknown', 'OutcomeUnknown', `${name}: the same final status as before it, and no sign of it ${state}`);
}
