/** What the past of a server's backups or a target's deployments suggests. No verdict depends on it. Pure. */
import { LIMITS } from '../../request/limits.ts';
import { quantile, type Observation } from './quantile.ts';

/** How long an operation is waited for. */
export interface Budget {
  intervalMs: number;
  tries: number;
}

export interface Usual {
  /** The median. */
  usuallyMs: number;
  /** Null if more than a twentieth timed out, so that it is not known. */
  p95Ms: number | null;
  n: number;
}

/** A budget that is nearly used up, or was. */
export interface TooFewTries {
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
