/** Checks the site of a deployment: what it answers just before the request, and what it shows afterwards. */
import type { DeploymentResult } from '../../contract/run.ts';
import type { CheckAim, CheckResult, SiteRead } from '../../contract/site-check.ts';
import { readText } from '../../contract/wording/check-text.ts';
import { evidenceOf, kindOf } from '../../rules/policy/site-check.ts';
import { checkSite } from '../common/activity-proxies.ts';
import { type Conclusion } from '../common/conclusion.ts';
import type { Operation } from './run-operation.ts';
import { checkSummary, verifySite } from './verify-site.ts';

export interface SiteCheck {
  /** Reads the site just before the request. A broken site blocks nothing: its deployment may repair it. */
  takeBaseline(): Promise<void>;
  /** It is too old to be compared with. */
  forgetBaseline(): void;
  /** While the status alone decides nothing, the site may show more. @param then called if it does */
  look: (then: () => void) => void;
  /** What the commit of the site shows about a status that was read from this time on. */
  evidenceSince: (readBeganMs: number) => CommitEvidence | null;
  /** @param conclusion what the status says. @returns what the site says of that */
  judge(conclusion: Conclusion): Promise<Conclusion>;
}

type CommitEvidence = 'identity' | 'changed';

/** The part of a deployment that it needs. */
export type CheckedOperation = Pick<
  Operation<DeploymentResult>,
  'result' | 'cancellation' | 'timer' | 'setPhase' | 'setWaiting'
>;

/** One check. */
export interface Checking {
  operation: CheckedOperation;
  aim: CheckAim;
  found: CheckResult;
  /** @param what shown in the UI. @returns null if no worker finished it */
  read: (what: string) => Promise<SiteRead | null>;
}

export function createSiteCheck(operation: CheckedOperation, service: string, aim: CheckAim): SiteCheck {
  const { siteId, name } = aim;
  const found: CheckResult = { name, outcome: null, reads: 0, goodReads: 0, baseline: null, last: null };
  operation.result.check = found;
  const checking: Checking = {
    ...{ operation, aim, found },
    read: (what) =>
      checkSite
        .executeWithOptions({ summary: checkSummary(aim, what) }, [{ service, siteId, check: name }])
        .catch(() => null),
  };
  const { goodInARow, ...commit } = watchCommit(checking);
  return {
    ...commit,
    async takeBaseline() {
      found.baseline = await checking.read('before the request');
    },
    forgetBaseline() {
      found.baseline = null;
    },
    async judge(conclusion) {
      if (operation.cancellation.requested) return conclusion;
      if (conclusion.outcome === 'completed') return verifySite(checking, goodInARow());
      return operation.result.acceptedAt === null ? conclusion : explained(checking, conclusion);
    },
  };
}

/** Looks at the commit while the status decides nothing. */
function watchCommit({ aim, found, read }: Checking): Pick<SiteCheck, 'look' | 'evidenceSince'> & {
  goodInARow: () => number;
} {
  let shown: { evidence: CommitEvidence; sinceMs: number } | null = null;
  let goodInARow = 0;
  let isLooking = false;

  /** @returns whether it shows more than before */
  async function readCommit(): Promise<boolean> {
    const answer = await read('while its status decides nothing');
    const evidence = answer === null ? null : evidenceOf(aim, found.baseline, answer);
    if (answer === null || evidence === null) return false;
    goodInARow = kindOf(aim, found.baseline, answer) === 'good' && evidence === 'identity' ? goodInARow + 1 : 0;
    if (shown?.evidence === evidence || shown?.evidence === 'identity') return false;
    shown = { evidence, sinceMs: Date.now() };
    return true;
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
    evidenceSince: (readBeganMs) => (shown !== null && readBeganMs >= shown.sinceMs ? shown.evidence : null),
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
