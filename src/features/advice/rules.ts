/** Gives advice about one server's backups or one target's deployments, as data and in sentences. Pure. */
import type { BackupResult, DeploymentResult } from '../../contract/run.ts';
import type { Target } from '../../contract/target.ts';
import { secondsText } from '../../contract/duration.ts';
import { LIMITS } from '../../request/limits.ts';
import { ended, quantile, usualOf, type Observation, type Usual } from '../../rules/usual.ts';

/** A server, for its backups, or a target, for its deployments. */
export type AdviceSubject = { serverId: string } | { target: Target };

export const subjectOf = (part: BackupResult | DeploymentResult): AdviceSubject =>
  'target' in part ? { target: part.target } : { serverId: part.serverId };

export interface OperationAdvice {
  kind: 'backup' | 'deployment';
  /** Null for deployments. */
  serverId: string | null;
  /** Null for backups. */
  target: Target | null;
  /** Operations known to have ended or timed out, from the newest 100 at most. */
  n: number;
  timedOut: number;
  /** The median from the acceptance to the verdict. Null if fewer than five are known, or if most timed out. */
  usuallyMs: number | null;
  /** The 95th percentile. Null if `usuallyMs` is null, or if too many timed out to know it. */
  p95Ms: number | null;
  /** The interval and tries of the newest operation. Null if too few operations are known for advice. */
  budget: Budget | null;
  /** Null if the budget is ample, or too little is known. */
  suggestedBudget: Budget | null;
  slowdown: Slowdown | null;
  /** Sentences for people. Empty if there is no advice. */
  advice: string[];
  /** Why not all of the operations could be read. The others do not count. Absent if all could be read. */
  unreadable?: string;
}

/** @param past the newest first */
export function adviceOf(subject: AdviceSubject, past: readonly Observation[], budget: Budget | null): OperationAdvice {
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

/* Judges the past of a server's backups or a target's deployments. No verdict depends on it. Pure. */

/** How long Belay waits for an operation: `tries` reads, one every `intervalMs`. */
export interface Budget {
  intervalMs: number;
  tries: number;
}

interface TooFewTries {
  budget: Budget;
  /** Null if too many timed out to know it. */
  p95Ms: number | null;
  n: number;
  /** Operations that timed out at about this budget. */
  timedOut: number;
  suggested: Budget;
}

export interface Slowdown {
  /** The medians of the earlier and of the newest operations. */
  wasMs: number;
  isMs: number;
}

export const LEAST_FOR_ADVICE = 10;

/** The part of the budget that a 95th percentile may take up. */
const AMPLE = 0.8;
const SPARE = 1.5;
/** How many times longer the median of the newest operations is, at least, for a slowdown. */
const SLOWER = 1.5;

/** @returns null if the budget is ample, or too little is known */
export function tooFewTries(past: readonly Observation[], budget: Budget): TooFewTries | null {
  if (past.length < LEAST_FOR_ADVICE) return null;
  const budgetMs = budget.intervalMs * budget.tries;
  const p95Ms = quantile(past, 0.95);
  const timedOut = past.filter(({ ms, ended }) => !ended && ms > AMPLE * budgetMs).length;
  // An operation that timed out at a smaller budget may well end within this one.
  const isTight = p95Ms === null ? timedOut > 0 : p95Ms > AMPLE * budgetMs;
  if (!isTight) return null;
  const wantedMs = p95Ms === null ? 2 * budgetMs : SPARE * p95Ms;
  return { budget, p95Ms, n: past.length, timedOut, suggested: budgetFor(wantedMs, budget) };
}

/** Adds tries up to their limit, then lengthens the interval. */
function budgetFor(wantedMs: number, { intervalMs }: Budget): Budget {
  const [, most] = LIMITS.tries;
  const tries = Math.ceil(wantedMs / intervalMs);
  return tries <= most ? { intervalMs, tries } : { intervalMs: Math.ceil(wantedMs / most), tries: most };
}

/** The newest 50 are compared with the 50 before them. */
const COMPARED = 50;

/** @param past the newest first */
export function slowdownOf(past: readonly Observation[]): Slowdown | null {
  const half = Math.min(COMPARED, Math.floor(past.length / 2));
  if (half < LEAST_FOR_ADVICE) return null;
  const [isMs, wasMs] = [quantile(past.slice(0, half), 0.5), quantile(past.slice(half, 2 * half), 0.5)];
  return isMs !== null && wasMs !== null && isMs > SLOWER * wasMs ? { wasMs, isMs } : null;
}

export type OperationResult = BackupResult | DeploymentResult;

/** The time from the acceptance to the verdict. Null if the result does not show it. */
export function timeToVerdict(result: OperationResult): Observation | null {
  const { outcome, acceptedAt, trigger } = result;
  const ended = hasEnded(result);
  const verdictAt = verdictAtOf(result);
  // A request that was in doubt is found to be accepted some time after its acceptance.
  const isKnown = trigger.reconciledBy === null && (ended || outcome === 'timed_out');
  if (!isKnown || acceptedAt === null || verdictAt === null) return null;
  return { ms: Date.parse(verdictAt) - Date.parse(acceptedAt), ended };
}

const hasEnded = ({ outcome }: OperationResult): boolean => outcome === 'completed' || outcome === 'failed';

/**
 * `endedAt` includes the check of the site, which comes after the verdict. Results from before `verdictAt` existed lack
 * it.
 */
function verdictAtOf(result: OperationResult): string | null {
  const known = 'target' in result ? (result.verdictAt as string | null | undefined) : null;
  return known ?? result.endedAt;
}

/* Estimates how long runs and the rest of a rollout take, from the past of their operations. Pure. */

/** One entry per operation. Null if nothing is known of it. */
export type PastOfRun = (Pick<OperationAdvice, 'usuallyMs' | 'p95Ms'> | null)[];

/** `p95Ms` is null for several runs, and if an operation has none. */
type Eta = Pick<Usual, 'usuallyMs' | 'p95Ms'>;

/** @returns null if every run has an operation with too short a past */
export function etaOfRuns(runs: readonly PastOfRun[], maxAtOnce: number): Eta | null {
  const known = runs.flatMap((past) => sumOf(past.map((it) => it?.usuallyMs ?? null)) ?? []);
  const [first = []] = runs;
  if (known.length === 0) return null;
  if (runs.length === 1) return { usuallyMs: known[0]!, p95Ms: sumOf(first.map((it) => it?.p95Ms ?? null)) };
  return { usuallyMs: Math.ceil(runs.length / maxAtOnce) * (quantile(known.map(ended), 0.5) ?? 0), p95Ms: null };
}

function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>((sum, it) => (sum === null || it === null ? null : sum + it), 0);
}
