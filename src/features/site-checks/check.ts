/** The checks of a run's sites: what the run expects, as the worker knew it when the run began, and how it is checked. */
import { factOf } from '../../contract/facts.ts';
import type { WorkerInfo } from '../../contract/activities.ts';
import type { DeploymentResult, RunInput } from '../../contract/run.ts';
import { CHECKS_FACT, type CheckAim, type CheckResult, type SiteRead } from './shapes.ts';
import { isApp, type Target } from '../../contract/target.ts';
import { isUnseen, readText } from './text.ts';
import { type Held, recordExempted } from '../freezes/shapes.ts';
import { conclude, type Conclusion, COMPLETED } from '../../workflows/conclusion.ts';
import type { RunCheck } from '../../workflows/run/hooks.ts';
import type { RunState } from '../../workflows/run/run-state.ts';
import type { RolloutHook, RolloutState } from '../rollouts/hooks.ts';
import {
  evidenceOf,
  kindOf,
  afterSiteRead,
  decideCheck,
  mayIdentify,
  NOTHING_SEEN,
  type CheckSeen,
  type CheckVerdict,
} from './rules.ts';
import { labelledBySite, type CommitEvidence } from '../../rules/verdict.ts';
import { checkSite } from '../../workflows/activity-proxies.ts';
import type { CheckedOperation, CreateCheck } from '../../workflows/operation/hooks.ts';
import { plainText } from '../../contract/safe-text.ts';
import { mayHaveSent } from '../../workflows/reset.ts';
import { sleepUntil, unlessCancelled } from '../../workflows/polling/poll-until.ts';

export function siteChecks(run: RunState): RunCheck {
  const { facts, input, plan, result, type } = run;
  const { checks = [] } = factOf(facts, CHECKS_FACT) ?? {};
  const { commit, orNewer } = plan;

  function aimOf(target: Target): CheckAim | undefined {
    // A watch sends no request after which the site has to work. It only looks for a commit.
    if (type === 'watchDeployment' && commit === null) return undefined;
    const known = checks.find(({ siteId }) => !isApp(target) && siteId === target.id);
    return known === undefined || input.noCheck !== undefined ? undefined : { ...known, commit, orNewer };
  }

  return {
    begun: () => recordWaiver(run),
    carries(target) {
      const check = aimOf(target);
      return check === undefined ? {} : { check };
    },
    judge: (ended) => unlessUnchecked(ended, aimOf(ended.target)),
    ended() {
      const deployed = result.deployments.filter(({ outcome }) => outcome === 'completed');
      result.commitSeen = result.commit === null || deployed.length === 0 ? null : !deployed.some(isUnseen);
    },
  };
}

/** The run of each server checks its sites. */
export const checkedServers = (rollout: RolloutState): RolloutHook => ({ begun: () => recordWaiver(rollout) });

interface Waiving {
  readonly input: Pick<RunInput, 'noCheck'>;
  readonly facts: WorkerInfo;
  readonly result: { held: Held[] };
}

/** Records that the checks of the sites are left out, as far as the worker knew them at the start. */
function recordWaiver({ input: { noCheck }, facts, result }: Waiving): void {
  if (noCheck === undefined) return;
  for (const name of factOf(facts, CHECKS_FACT)?.leftOut ?? []) recordExempted(result, 'check', name, noCheck);
}

/** A worker of a build without checks leaves them out, but no deployment may pass without its check. */
export function unlessUnchecked({ outcome, error, check }: DeploymentResult, aim: CheckAim | undefined): Conclusion {
  const isUnchecked = aim !== undefined && outcome === 'completed' && check?.outcome !== 'passed';
  if (!isUnchecked) return { outcome, error };
  return conclude(
    'unknown',
    'OutcomeUnknown',
    `check ${aim.name} was not made: a worker without checks deployed the site`,
  );
}

/* Checks the site of a deployment: what it answers just before the request, and what it shows afterwards. */

interface Checking {
  operation: CheckedOperation;
  service: string;
  aim: CheckAim;
  found: CheckResult;
  /** What reads have shown of the commit since the request. */
  shown: CommitEvidence | null;
  /** Before the verdict, only reads that show the expected commit count. */
  goodInARow: number;
}

export const siteCheck: CreateCheck = (operation, { service, check: aim }) => {
  if (aim === undefined) return undefined;
  const found: CheckResult = { name: aim.name, outcome: null, reads: 0, goodReads: 0, baseline: null, last: null };
  operation.result.check = found;
  const checking: Checking = { operation, service, aim, found, shown: null, goodInARow: 0 };
  let isLooking = false;
  let awaited = 0;
  return {
    get shown() {
      return checking.shown;
    },
    awaitsIdentity() {
      if (!mayIdentify(aim, found.baseline) || awaited === aim.tries) return false;
      awaited += 1;
      return true;
    },
    look(then) {
      if (isLooking || found.baseline === null || !aim.showsCommit) return;
      isLooking = true;
      void readCommit(checking).then((isNews) => {
        isLooking = false;
        if (isNews) then();
      });
    },
    async takeBaseline() {
      found.baseline = await readPage(checking, 'before the request');
    },
    forgetBaseline() {
      found.baseline = null;
    },
    judge: (conclusion) => judge(checking, conclusion),
  };
};

async function judge(checking: Checking, conclusion: Conclusion): Promise<Conclusion> {
  const { operation, aim } = checking;
  const { result } = operation;
  const { outcome } = conclusion;
  if (operation.cancellation.requested) return outcome === 'completed' ? cutShort(aim.siteId) : conclusion;
  const isExplained = outcome !== 'completed' && result.acceptedAt !== null;
  const judged = isExplained ? await explained(checking, conclusion) : conclusion;
  const verified = outcome === 'completed' ? await verifySite(checking) : judged;
  const isVerdict = outcome === 'completed' || outcome === 'failed';
  if (isVerdict && result.evidence !== null) result.evidence = labelledBySite(result.evidence, outcome, checking.shown);
  return verified;
}

/** @param what is shown in the UI. @returns null if no worker finished the read */
const readPage = ({ service, aim }: Checking, what: string): Promise<SiteRead | null> =>
  checkSite
    .executeWithOptions({ summary: checkSummary(aim, what) }, [{ service, siteId: aim.siteId, check: aim.name }])
    .catch(() => null);

/** As `readPage`, and notes what the page shows of the commit. */
async function read(checking: Checking, what: string): Promise<SiteRead | null> {
  const answer = await readPage(checking, what);
  const evidence = answer === null ? null : evidenceOf(checking.aim, checking.found.baseline, answer);
  if (checking.shown !== 'identity') checking.shown = evidence ?? checking.shown;
  return answer;
}

/** @returns whether the site shows more than before */
async function readCommit(checking: Checking): Promise<boolean> {
  const { aim, found, shown: before } = checking;
  const answer = await read(checking, 'while its status decides nothing');
  if (answer === null) return false;
  const isExpected = evidenceOf(aim, found.baseline, answer) === 'identity';
  const isGood = isExpected && kindOf(aim, found.baseline, answer) === 'good';
  checking.goodInARow = isGood ? checking.goodInARow + 1 : 0;
  return checking.shown !== before;
}

/** What the service reports stands, whatever the site shows. The answer of the site only explains it. */
async function explained(checking: Checking, conclusion: Conclusion): Promise<Conclusion> {
  const { found } = checking;
  const answer = conclusion.error === null ? null : await read(checking, 'for the message');
  if (conclusion.error === null || answer === null) return conclusion;
  found.last = answer;
  found.reads += 1;
  const { type, message } = conclusion.error;
  const text = answer.kind === 'nothing' ? `the site gives no answer: ${answer.why}` : `the site: ${readText(answer)}`;
  return { ...conclusion, error: { type, message: `${message}; ${text}` } };
}

/* Reads a site after the service has reported its deployment as completed. */

/** Gives up after this many reads in a row that no worker finished. */
const MAX_LOST_IN_A_ROW = 10;

/** Good reads from before the verdict count, and use up no try. */
async function verifySite(checking: Checking): Promise<Conclusion> {
  const { operation, aim, found, goodInARow } = checking;
  operation.setPhase('verify');
  const beganMs = Date.now();
  let seen: CheckSeen = { ...NOTHING_SEEN, goodInARow };
  let lost = 0;
  const wasResetBefore = mayHaveSent();
  for (let turn = 0; ; turn += 1) {
    const dueMs = turn === 0 ? beganMs : Math.max(beganMs + turn * aim.intervalMs, Date.now() + 1);
    const answer = await nextRead(checking, seen, dueMs);
    if (operation.cancellation.requested) return cutShort(aim.siteId);
    if (!wasResetBefore && mayHaveSent()) {
      checking.shown = null;
      const message = `check ${aim.name}: the workflow was reset, so the site may show a later deployment`;
      return decided(checking, { outcome: 'unknown', message });
    }
    lost = answer === null ? lost + 1 : 0;
    if (lost === MAX_LOST_IN_A_ROW) {
      const message = `check ${aim.name}: ${lost} reads in a row were lost`;
      return decided(checking, { outcome: 'unknown', message });
    }
    if (answer === null) continue;
    seen = afterSiteRead(seen, kindOf(aim, found.baseline, answer), answer);
    Object.assign(found, { reads: seen.reads, goodReads: seen.counts.good, last: answer });
    const verdict = decideCheck(aim, found.baseline, seen);
    if (verdict !== null) return decided(checking, verdict);
  }
}

/** @returns null if the read was lost, or once cancelled */
async function nextRead(checking: Checking, seen: CheckSeen, dueMs: number) {
  const { operation, aim, found } = checking;
  const { siteId, name, tries, inARow } = aim;
  const attempt = Math.min(seen.reads + 1, tries);
  const what = `read ${attempt} of ${tries}`;
  const awaitedAfter = (read: SiteRead) =>
    read.kind === 'holds' && kindOf(aim, found.baseline, read) !== 'good' ? aim.commit : null;
  operation.setWaiting({
    kind: 'check',
    siteId,
    check: name,
    try: attempt,
    tries,
    goodInARow: seen.goodInARow,
    inARow,
    last: found.last === null ? null : readText(found.last, awaitedAfter(found.last)),
    nextReadAt: new Date(dueMs).toISOString(),
  });
  const slept = await sleepUntil(operation, dueMs, checkSummary(aim, what));
  return slept === 'cancelled' ? null : unlessCancelled(operation, read(checking, what));
}

const checkSummary = ({ siteId, name }: Checking['aim'], what: string): string =>
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
