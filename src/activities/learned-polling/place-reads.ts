/** Places reads where an operation is expected to end. Pure: times are milliseconds since the acceptance. */
import type { Expectation } from './expectation.ts';

export interface Beat {
  intervalMs: number;
  tries: number;
}

const LEAST_GAP_MS = 1_000;
/** However unlikely an end is, no gap is longer than this many intervals. */
const LONGEST_GAP = 3;
/** Of bisections, in about a thousandth of the weight and ten-thousandths of the density. */
const WEIGHT_STEPS = 10;
const DENSITY_STEPS = 20;

/** As without learning: at each interval. */
export const evenReads = ({ intervalMs, tries }: Beat): number[] =>
  Array.from({ length: tries }, (_, index) => (index + 1) * intervalMs);

/**
 * As many reads as tries, the last one when it would be anyway, with the least expected delay. The density of reads
 * grows with the square root of the probability of an end (Keller, Optimum Checking Schedules for Systems Subject to
 * Random Failure, 1974). A weight keeps the expected number of reads from exceeding that of even reads.
 *
 * @returns null if that is impossible
 */
export function placeReads(expected: Expectation, beat: Beat): number[] | null {
  if (beat.intervalMs <= LEAST_GAP_MS) return null;
  const most = expectedReads(expected, evenReads(beat));
  const at = (weight: number) => readsAt(expected, beat, weight);
  const isCheap = (reads: readonly number[]) => expectedReads(expected, reads) <= most;
  const unweighted = at(0);
  if (isCheap(unweighted)) return unweighted;
  if (!isCheap(at(1))) return null;
  return at(leastThat((weight) => isCheap(at(weight)), { low: 0, high: 1, steps: WEIGHT_STEPS }));
}

/** @param weight from 0, where a read costs the same at any time, to 1, where it costs only if it is made */
function readsAt({ edgesMs, mass, survival }: Expectation, { intervalMs, tries }: Beat, weight: number): number[] {
  const widths = mass.map((_, cell) => edgesMs[cell + 1]! - edgesMs[cell]!);
  const wanted = mass.map((part, cell) =>
    Math.sqrt(part / widths[cell]! / (weight * Math.max(survival[cell]!, Number.EPSILON) + 1 - weight)),
  );
  const [least, most] = [1 / (LONGEST_GAP * intervalMs), 1 / LEAST_GAP_MS];
  const readsIn = (cell: number, scale: number) =>
    Math.min(Math.max(scale * wanted[cell]!, least), most) * widths[cell]!;
  const isDense = (log: number) => {
    const scale = Math.exp(log);
    let reads = 0;
    for (let cell = 0; cell < wanted.length; cell += 1) reads += readsIn(cell, scale);
    return reads >= tries;
  };
  const scale = Math.exp(leastThat(isDense, { low: -40, high: 40, steps: DENSITY_STEPS }));
  const perCell = wanted.map((_, cell) => readsIn(cell, scale));
  return momentsOf(edgesMs, perCell, { intervalMs, tries });
}

function momentsOf(edgesMs: readonly number[], perCell: readonly number[], { intervalMs, tries }: Beat): number[] {
  const moments: number[] = [];
  let reads = 0;
  for (const [cell, count] of perCell.entries()) {
    const [from, to] = [edgesMs[cell]!, edgesMs[cell + 1]!];
    while (moments.length + 1 <= reads + count && moments.length < tries - 1) {
      moments.push(Math.round(from + ((moments.length + 1 - reads) / count) * (to - from)));
    }
    reads += count;
  }
  return [...moments, tries * intervalMs];
}

/** The mean time from the end of an operation to the next read. */
export function expectedDelayMs({ edgesMs, mass }: Expectation, reads: readonly number[]): number {
  let next = 0;
  return mass.reduce((sum, part, cell) => {
    const endMs = (edgesMs[cell]! + edgesMs[cell + 1]!) / 2;
    while (next < reads.length - 1 && reads[next]! < endMs) next += 1;
    return sum + part * Math.max(reads[next]! - endMs, 0);
  }, 0);
}

export function expectedReads({ edgesMs, survival }: Expectation, reads: readonly number[]): number {
  let cell = 0;
  const madeAfter = (readMs: number): number => {
    while (cell < survival.length - 1 && edgesMs[cell + 1]! <= readMs) cell += 1;
    return survival[cell]!;
  };
  return 1 + reads.slice(0, -1).reduce((sum, readMs) => sum + madeAfter(readMs), 0);
}

/** The least value between two at which a condition holds that goes on to hold. */
function leastThat(
  holds: (value: number) => boolean,
  { low, high, steps }: { low: number; high: number; steps: number },
): number {
  let [below, above] = [low, high];
  for (let step = 0; step < steps; step += 1) {
    const middle = (below + above) / 2;
    if (holds(middle)) above = middle;
    else below = middle;
  }
  return above;
}
