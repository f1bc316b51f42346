/** How long runs take, by the past of their operations, and what is left of a rollout. Pure. */
import type { TargetResult } from '../../contract/rollout.ts';
import { isPending, isRunning } from '../../contract/results/tally.ts';
import type { OperationAdvice } from './advice.ts';
import { quantile } from './quantile.ts';

/** Of each operation; null if nothing is known of it. */
export type PastOfRun = (Pick<OperationAdvice, 'usuallyMs' | 'p95Ms'> | null)[];

export interface Eta {
  usuallyMs: number;
  /** Null if it is not known of every operation, and of several runs. */
  p95Ms: number | null;
}

/** Fewer tell nothing. */
const LEAST_KNOWN = 5;

/** @returns null if an operation of a single run, or every one of several, has too short a past */
export function etaOfRuns(runs: readonly PastOfRun[], maxAtOnce: number): Eta | null {
  const known = runs.flatMap((past) => sumOf(past.map((it) => it?.usuallyMs ?? null)) ?? []);
  const [first = []] = runs;
  if (known.length === 0) return null;
  if (runs.length === 1) return { usuallyMs: known[0]!, p95Ms: sumOf(first.map((it) => it?.p95Ms ?? null)) };
  return { usuallyMs: Math.ceil(runs.length / maxAtOnce) * median(known), p95Ms: null };
}

/** What is left of a rollout, by its servers that have ended. @returns null if fewer than five have, or none is left */
export function leftOfRolloutMs(targets: readonly TargetResult[]): number | null {
  const tookMs = targets.flatMap(({ outcome, startedAt, endedAt }) =>
    outcome === null || startedAt === null || endedAt === null ? [] : [Date.parse(endedAt) - Date.parse(startedAt)],
  );
  const running = targets.filter(isRunning).length;
  const toCome = targets.filter((it) => isPending(it) && it.heldByEvent === null).length + running;
  if (tookMs.length < LEAST_KNOWN || toCome === 0) return null;
  return Math.ceil(toCome / Math.max(1, running)) * median(tookMs);
}

function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>((sum, it) => (sum === null || it === null ? null : sum + it), 0);
}

const median = (values: readonly number[]): number =>
  quantile(
    values.map((ms) => ({ ms, ended: true })),
    0.5,
  ) ?? 0;
