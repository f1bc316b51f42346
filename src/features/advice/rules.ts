/** Advice about one server's backups or one target's deployments, as data and in sentences. Pure. */
import type { BackupResult, DeploymentResult } from '../../contract/run.ts';
import type { Target } from '../../contract/target.ts';
import { secondsText } from '../../contract/duration.ts';
import { LIMITS } from '../../request/limits.ts';
import type { TargetResult } from '../rollouts/shapes.ts';
import { isPending, isRunning } from '../../contract/results.ts';

/** Backups of a server, or deployments of a target. */
export type AdviceSubject = { serverId: string } | { target: Target };

export const subjectOf = (part: BackupResult | DeploymentResult): AdviceSubject =>
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

/* What the past of a server's backups or a target's deployments suggests. No verdict depends on it. Pure. */

/** How long an operation is waited for. */
export interface Budget {
  intervalMs: number;
  tries: number;
}

interface Usual {
  /** The median. */
  usuallyMs: number;
  /** Null if more than a twentieth timed out, so that it is not known. */
  p95Ms: number | null;
  n: number;
}

/** A budget that is nearly used up, or was. */
interface TooFewTries {
  budget: Budget;
  /** Null if it is not known, because too many timed out. */
  p95Ms: number | null;
  n: number;
  /** Of them, at about this budget. */
  timedOut: number;
  suggested: Budget;
}

export interface Slowdown {
  /** Medians. */
  wasMs: number;
  isMs: number;
}

const LEAST_FOR_USUAL = 5;
/** As many have to be known. */
export const LEAST_FOR_ADVICE = 10;

/** @returns null if too few are known, or if most of them timed out */
export function usualOf(past: readonly Observation[]): Usual | null {
  if (past.length < LEAST_FOR_USUAL) return null;
  const usuallyMs = quantile(past, 0.5);
  return usuallyMs === null ? null : { usuallyMs, p95Ms: quantile(past, 0.95), n: past.length };
}

/** Of the budget, that a 95th percentile may take up. */
const AMPLE = 0.8;
const SPARE = 1.5;

/** @returns null if the budget is ample, or too little is known */
export function tooFewTries(past: readonly Observation[], budget: Budget): TooFewTries | null {
  if (past.length < LEAST_FOR_ADVICE) return null;
  const budgetMs = budget.intervalMs * budget.tries;
  const p95Ms = quantile(past, 0.95);
  const timedOut = past.filter(({ ms, ended }) => !ended && ms > AMPLE * budgetMs).length;
  // What timed out only at smaller budgets may well end within this one.
  const isTight = p95Ms === null ? timedOut > 0 : p95Ms > AMPLE * budgetMs;
  if (!isTight) return null;
  const wantedMs = p95Ms === null ? 2 * budgetMs : SPARE * p95Ms;
  return { budget, p95Ms, n: past.length, timedOut, suggested: budgetFor(wantedMs, budget) };
}

/** More tries, as far as there may be more; else longer intervals. */
function budgetFor(wantedMs: number, { intervalMs }: Budget): Budget {
  const [, most] = LIMITS.tries;
  const tries = Math.ceil(wantedMs / intervalMs);
  return tries <= most ? { intervalMs, tries } : { intervalMs: Math.ceil(wantedMs / most), tries: most };
}

/** How many newest ones are compared with as many before them. */
const COMPARED = 50;

/** @param past the newest first */
export function slowdownOf(past: readonly Observation[]): Slowdown | null {
  const half = Math.min(COMPARED, Math.floor(past.length / 2));
  if (half < LEAST_FOR_ADVICE) return null;
  const [isMs, wasMs] = [quantile(past.slice(0, half), 0.5), quantile(past.slice(half, 2 * half), 0.5)];
  return isMs !== null && wasMs !== null && isMs > SPARE * wasMs ? { wasMs, isMs } : null;
}

/* Quantiles of durations of which some are known only to be longer than a limit. Pure. */

export interface Observation {
  ms: number;
  /** False: it took longer than `ms`, by how much is not known. */
  ended: boolean;
}

/** Products of quotients come out this much off. */
const ROUNDING = 1e-9;

/**
 * The least duration by which at least this part has ended, estimated by Kaplan and Meier. Without observations that did
 * not end, it is the value at the nearest rank.
 *
 * @param part more than 0, at most 1
 * @returns null if fewer than that were seen to end
 */
export function quantile(observations: readonly Observation[], part: number): number | null {
  // At the same duration, an end comes before a limit: what only reached the limit was still in progress.
  const sorted = observations.toSorted((a, b) => a.ms - b.ms || Number(b.ended) - Number(a.ended));
  let inProgress = 1;
  for (const [index, { ms, ended }] of sorted.entries()) {
    if (!ended) continue;
    inProgress *= 1 - 1 / (sorted.length - index);
    if (inProgress <= 1 - part + ROUNDING) return ms;
  }
  return null;
}

/* What the result of a past operation shows about how long it took. Pure. */

type OperationResult = BackupResult | DeploymentResult;

/** From the acceptance to the verdict. Null if the result does not show it. */
export function timeToVerdict(result: OperationResult): Observation | null {
  const { outcome, acceptedAt, trigger } = result;
  const ended = hasEnded(result);
  const verdictAt = verdictAtOf(result);
  // A request in doubt was found to be accepted some time after it was.
  const isKnown = trigger.reconciledBy === null && (ended || outcome === 'timed_out');
  if (!isKnown || acceptedAt === null || verdictAt === null) return null;
  return { ms: Date.parse(verdictAt) - Date.parse(acceptedAt), ended };
}

/** From the acceptance to the end at the service, which the verdict follows. Null if the result does not show it. */
export function timeToEnd(result: OperationResult): number | null {
  const { acceptedAt, inProgressAt } = result;
  const verdict = timeToVerdict(result);
  if (verdict === null || !verdict.ended || acceptedAt === null) return null;
  // Other evidence takes longer than the deployment.
  if ('evidence' in result && result.evidence !== 'transition' && result.evidence !== 'identity') return null;
  // Between the last read in progress and the read that saw its end: in the middle, for want of better.
  const lastMs = inProgressAt === null ? 0 : Date.parse(inProgressAt) - Date.parse(acceptedAt);
  return (lastMs + verdict.ms) / 2;
}

const hasEnded = ({ outcome }: OperationResult): boolean => outcome === 'completed' || outcome === 'failed';

/** The check of a site comes after the verdict. Results from before the field existed lack it. */
function verdictAtOf(result: OperationResult): string | null {
  const known = 'target' in result ? (result.verdictAt as string | null | undefined) : null;
  return known ?? result.endedAt;
}

/* How long runs take, by the past of their operations, and what is left of a rollout. Pure. */

/** Of each operation; null if nothing is known of it. */
export type PastOfRun = (Pick<OperationAdvice, 'usuallyMs' | 'p95Ms'> | null)[];

/** `p95Ms` is null if it is not known of every operation, and of several runs. */
type Eta = Pick<Usual, 'usuallyMs' | 'p95Ms'>;

/** @returns null if an operation of a single run, or every one of several, has too short a past */
export function etaOfRuns(runs: readonly PastOfRun[], maxAtOnce: number): Eta | null {
  const known = runs.flatMap((past) => sumOf(past.map((it) => it?.usuallyMs ?? null)) ?? []);
  const [first = []] = runs;
  if (known.length === 0) return null;
  if (runs.length === 1) return { usuallyMs: known[0]!, p95Ms: sumOf(first.map((it) => it?.p95Ms ?? null)) };
  return { usuallyMs: Math.ceil(runs.length / maxAtOnce) * (quantile(known.map(ended), 0.5) ?? 0), p95Ms: null };
}

/** What is left of a rollout, by its servers that have ended. @returns null if fewer than five have, or none is left */
export function leftOfRolloutMs(targets: readonly TargetResult[]): number | null {
  const took = targets.flatMap(({ outcome, startedAt, endedAt }) =>
    outcome === null || startedAt === null || endedAt === null ? [] : Date.parse(endedAt) - Date.parse(startedAt),
  );
  const usual = usualOf(took.map(ended));
  const running = targets.filter(isRunning).length;
  const toCome = targets.filter((it) => isPending(it) && it.heldByEvent === null).length + running;
  return usual === null || toCome === 0 ? null : Math.ceil(toCome / Math.max(1, running)) * usual.usuallyMs;
}

const ended = (ms: number): Observation => ({ ms, ended: true });

function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>((sum, it) => (sum === null || it === null ? null : sum + it), 0);
}
