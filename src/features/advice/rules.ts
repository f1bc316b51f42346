/** Advice about one server's backups or one target's deployments, as data and in sentences. Pure. */
import type { BackupResult, DeploymentResult } from '../../contract/run.ts';
import type { Target } from '../../contract/target.ts';
import { secondsText } from '../../contract/duration.ts';
import { slowdownOf, tooFewTries, usualOf, type Budget, type Slowdown, type TooFewTries } from './advise.ts';
import type { Observation } from './quantile.ts';

/** Backups of a server, or deployments of a target. */
export type Subject = { serverId: string } | { target: Target };

export const subjectOf = (part: BackupResult | DeploymentResult): Subject =>
  'target' in part ? { target: part.target } : { serverId: part.serverId };

export interface OperationAdvice {
  kind: 'backup' | 'deployment';
  /** Null for deployments. */
  serverId: string | null;
  /** Null for backups. */
  target: Target | null;
  /** How many are known to have ended or timed out, from the newest 100 at most. */
  n: number;
  timedOut: number;
  /** From the acceptance to the verdict, the median. Null if fewer than five are known, or most timed out. */
  usuallyMs: number | null;
  /** Null if that is not known, too. */
  p95Ms: number | null;
  /** Of the newest one. Null if too few are known for advice. */
  budget: Budget | null;
  /** Null if the budget is ample, or too little is known. */
  suggestedBudget: Budget | null;
  slowdown: Slowdown | null;
  /** In sentences; empty if there is none. */
  advice: string[];
}

/** @param past the newest first */
export function adviceOf(subject: Subject, past: readonly Observation[], budget: Budget | null): OperationAdvice {
  const kind = 'target' in subject ? 'deployment' : 'backup';
  const usual = usualOf(past);
  const tight = budget === null ? null : tooFewTries(past, budget);
  const slowdown = slowdownOf(past);
  return {
    kind,
    serverId: 'target' in subject ? null : subject.serverId,
    target: 'target' in subject ? subject.target : null,
    n: past.length,
    timedOut: past.filter(({ ended }) => !ended).length,
    usuallyMs: usual?.usuallyMs ?? null,
    p95Ms: usual?.p95Ms ?? null,
    budget,
    suggestedBudget: tight?.suggested ?? null,
    slowdown,
    advice: [
      ...(tight === null ? [] : [triesSentence(kind, tight)]),
      ...(slowdown === null ? [] : [slowdownSentence(slowdown)]),
    ],
  };
}

/** `p95 is 284 s of your 300 s: raise --deploy-tries to 43` */
function triesSentence(kind: OperationAdvice['kind'], { budget, suggested, ...seen }: TooFewTries): string {
  const budgetText = secondsText(budget.intervalMs * budget.tries);
  const why =
    seen.p95Ms === null
      ? `${seen.timedOut} of the last ${seen.n} timed out at ${budgetText}`
      : `p95 is ${secondsText(seen.p95Ms)} of your ${budgetText}`;
  const flags = kind === 'backup' ? '--backup' : '--deploy';
  const longer =
    suggested.intervalMs === budget.intervalMs
      ? ''
      : `${flags}-interval to ${secondsText(suggested.intervalMs).replace(' ', '')} and `;
  return `${why}: raise ${longer}${flags}-tries to ${suggested.tries}`;
}

const slowdownSentence = ({ wasMs, isMs }: Slowdown): string =>
  `slower than it was: the median is ${secondsText(isMs)}, and was ${secondsText(wasMs)}`;
