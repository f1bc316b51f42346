/** How long runs take, by the past of their operations, and what is left of a rollout. Pure. */
import type { TargetResult } from '../rollouts/shapes.ts';
import { isPending, isRunning } from '../../contract/tally.ts';
import type { OperationAdvice } from './rules.ts';
import { usualOf, type Usual } from './advise.ts';
import { quantile, type Observation } from './quantile.ts';

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
