/** Checks the site of a deployment: what it answers just before the request, and what it shows afterwards. */
import type { CheckAim, CheckResult, SiteRead } from './shapes.ts';
import { readText } from './text.ts';
import { evidenceOf, kindOf } from './rules.ts';
import { labelledBySite, type CommitEvidence } from '../../rules/verdict.ts';
import { checkSite } from '../../workflows/activity-proxies.ts';
import { type Conclusion } from '../../workflows/conclusion.ts';
import type { Check, CheckedOperation, CreateCheck } from '../../workflows/operation/hooks.ts';
import { checkSummary, verifySite } from './verify-site.ts';

/** One check. */
export interface Checking {
  operation: CheckedOperation;
  aim: CheckAim;
  found: CheckResult;
  /** @param what shown in the UI. @returns null if no worker finished it */
  read: (what: string) => Promise<SiteRead | null>;
}

export const siteCheck: CreateCheck = (operation, { service, check }) =>
  check === undefined ? undefined : createSiteCheck(operation, service, check);

function createSiteCheck(operation: CheckedOperation, service: string, aim: CheckAim): Check {
  const { siteId, name } = aim;
  const { result } = operation;
  const found: CheckResult = { name, outcome: null, reads: 0, goodReads: 0, baseline: null, last: null };
  result.check = found;
  let shown: CommitEvidence | null = null;
  const readPage = (what: string) =>
    checkSite
      .executeWithOptions({ summary: checkSummary(aim, what) }, [{ service, siteId, check: name }])
      .catch(() => null);
  const checking: Checking = {
    ...{ operation, aim, found },
    async read(what) {
      const answer = await readPage(what);
      const evidence = answer === null ? null : evidenceOf(aim, found.baseline, answer);
      if (shown !== 'identity') shown = evidence ?? shown;
      return answer;
    },
  };
  const { look, goodInARow } = watchCommit(checking, () => shown);
  return {
    look,
    get shown() {
      return shown;
    },
    async takeBaseline() {
      found.baseline = await readPage('before the request');
    },
    forgetBaseline() {
      found.baseline = null;
    },
    async judge(conclusion) {
      const { outcome } = conclusion;
      if (operation.cancellation.requested) return conclusion;
      const isExplained = outcome !== 'completed' && result.acceptedAt !== null;
      const judged = isExplained ? await explained(checking, conclusion) : conclusion;
      const verified = outcome === 'completed' ? await verifySite(checking, goodInARow()) : judged;
      const isVerdict = outcome === 'completed' || outcome === 'failed';
      if (isVerdict && result.evidence !== null) result.evidence = labelledBySite(result.evidence, outcome, shown);
      return verified;
    },
  };
}

/** Looks at the commit while the status decides nothing. */
function watchCommit(
  { aim, found, read }: Checking,
  shown: () => CommitEvidence | null,
): Pick<Check, 'look'> & { goodInARow: () => number } {
  let goodInARow = 0;
  let isLooking = false;

  /** @returns whether it shows more than before */
  async function readCommit(): Promise<boolean> {
    const before = shown();
    const answer = await read('while its status decides nothing');
    if (answer === null) return false;
    const isExpected = evidenceOf(aim, found.baseline, answer) === 'identity';
    goodInARow = isExpected && kindOf(aim, found.baseline, answer) === 'good' ? goodInARow + 1 : 0;
    return shown() !== before;
  }

  return {
    look: (then) => {
      if (isLooking || found.baseline === null || !aim.showsCommit) return;
      isLooking = true;
      void readCommit().then((isNews) => {
        isLooking = false;
        if (isNews) then();
      });
    },
    /** Before the verdict, only reads that show the expected commit count. */
    goodInARow: () => goodInARow,
  };
}

/** What the service reports stands, whatever the site shows. */
async function explained({ found, read }: Checking, conclusion: Conclusion): Promise<Conclusion> {
  const answer = conclusion.error === null ? null : await read('for the message');
  if (conclusion.error === null || answer === null) return conclusion;
  found.last = answer;
  found.reads += 1;
  const { type, message } = conclusion.error;
  const text = answer.kind === 'nothing' ? `the site gives no answer: ${answer.why}` : `the site: ${readText(answer)}`;
  return { ...conclusion, error: { type, message: `${message}; ${text}` } };
}
