/** What is checked before a run makes a backup: that it is not too late, the service, the token, the sites. */
import { proxyActivities, proxyLocalActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { RunInput } from '../../contract/run.ts';
import type { WorkerFacts } from '../../contract/activities.ts';
import { setAttributes } from '../common/search-attributes.ts';
import { refusalOf } from '../operation/take-baseline.ts';
import { ended, type End } from '../common/conclusion.ts';
import { deploymentReader } from '../polling/status-reader.ts';
import type { Run } from './run-state.ts';

const SITES_AT_ONCE = 10;
const ASKING_ROUNDS = 3;
const ASKED_AT_ONCE = 12;

const here = proxyLocalActivities<Activities>({ startToCloseTimeout: '4 seconds', retry: { maximumAttempts: 1 } });
const anywhere = proxyActivities<Activities>({ startToCloseTimeout: '10 seconds' });

/** Null for a run that may begin. */
export async function admit(run: Run): Promise<End | null> {
  const begunMs = Date.now();
  const facts = await askWorker(run.input);
  run.result.service = facts.service;
  // First of all: who is told how a run ends hears of one that wasn't begun, too, and lists have it.
  run.notify = facts.notify ?? null;
  run.searchAttributes = facts.searchAttributes;
  const servers = run.input.serverId === undefined ? [] : [run.input.serverId];
  setAttributes(facts.searchAttributes, { sites: run.input.siteIds, servers, phase: 'checking' });
  const refusal = tooLate(begunMs, run.plan.startWithinMs) ?? refusalOfFacts(run.input, facts);
  if (refusal !== null) return refusal;
  return run.type === 'watchDeployment' ? null : refusedSite(run, facts.service);
}

/** Why what was taken up only now is not begun, or null. */
export function tooLate(begunMs: number, startWithinMs: number): End | null {
  if (begunMs - workflowInfo().startTime.getTime() <= startWithinMs) return null;
  const message = `no worker took this run up within ${startWithinMs} ms, so it was not begun`;
  return ended('not_started', 'NoWorker', message);
}

type Needs = Pick<RunInput, 'service' | 'heartbeat'>;

/** Why these workers can't do it, or null. */
export function refusalOfFacts({ service, heartbeat }: Needs, facts: WorkerFacts): End | null {
  if (service !== undefined && service !== facts.service) {
    return ended('not_started', 'Refused', `this is for ${service}, and the workers serve ${facts.service}`);
  }
  if (heartbeat === undefined || facts.notify?.heartbeats.includes(heartbeat) === true) return null;
  const remedy = "add it to notify.heartbeats in the worker's belay.yaml";
  return ended('not_started', 'Usage', `the worker knows no heartbeat "${heartbeat}": ${remedy}`);
}

/**
 * One worker with another configuration must not spoil a run that says what it needs: then the others are asked, too.
 * Which worker takes an activity is chance, and one that polls with five pollers may take five in a row.
 */
export async function askWorker({ service, heartbeat }: Needs): Promise<WorkerFacts> {
  const fits = (facts: WorkerFacts) =>
    (service ?? facts.service) === facts.service &&
    (heartbeat === undefined || facts.notify?.heartbeats.includes(heartbeat) === true);
  let facts = await here.describeWorker().catch(() => anywhere.describeWorker());
  for (let round = 0; round < ASKING_ROUNDS && !fits(facts); round += 1) {
    if (round > 0) await sleep('1 second', { summary: 'before other workers are asked whether they fit' });
    const asked = await Promise.all(Array.from({ length: ASKED_AT_ONCE }, () => anywhere.describeWorker()));
    facts = asked.find(fits) ?? facts;
  }
  return facts;
}

/** Reads every site once: a token or site the service will not have is found before a backup is made. */
async function refusedSite(run: Run, service: string): Promise<End | null> {
  const { siteIds } = run.input;
  for (let first = 0; first < siteIds.length; first += SITES_AT_ONCE) {
    const slice = siteIds.slice(first, first + SITES_AT_ONCE);
    const reads = await Promise.all(
      slice.map((siteId) => deploymentReader({ service, siteId })(`check of site ${siteId}`.slice(0, 100))),
    );
    for (const [index, read] of reads.entries()) {
      const refusal = refusalOf(read);
      if (refusal !== null) return ended('not_started', 'Refused', `site ${slice[index]}: ${refusal}`);
    }
  }
  return null;
}
