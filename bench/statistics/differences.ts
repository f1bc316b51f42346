/** Paired differences between ways: each round compares blocks that were measured soon after one another. Pure. */
import { shareOf } from './share-of.ts';
import { ascending } from './spread.ts';

const RESAMPLES = 2_000;
const INTERVAL = [0.025, 0.975] as const;

export interface Difference {
  median: number;
  /** A bootstrap interval of 95 %. With few rounds it is little more than the least and the most. */
  from: number;
  to: number;
}

/** @param ratios one for each round. @param random from 0 up to 1 */
export function medianOf(ratios: readonly number[], random: () => number): Difference {
  const median = (values: readonly number[]) => {
    const sorted = ascending(values);
    return (sorted[Math.ceil(sorted.length / 2) - 1]! + sorted[Math.floor(sorted.length / 2)]!) / 2;
  };
  const drawn = Array.from({ length: RESAMPLES }, () =>
    median(ratios.map(() => ratios[Math.floor(random() * ratios.length)]!)),
  ).sort((a, b) => a - b);
  const [from, to] = INTERVAL.map((share) => shareOf(drawn, share)) as [number, number];
  return { median: median(ratios), from, to };
}

/** What was measured of one way in one round. */
export interface Taken {
  way: string;
  round: number;
}

/** How many times as much as another way, in pairs of the same round. @returns null if there is nothing to compare */
export function timesAsMuch<T extends Taken>(
  all: readonly T[],
  { way, as }: { way: string; as: string },
  of: (it: T) => number,
  random: () => number,
): Difference | null {
  const ratios = all.flatMap((it) => {
    const other = all.find(({ way: name, round }) => name === as && round === it.round);
    const isPair = it.way === way && other !== undefined && of(other) > 0;
    return isPair ? [of(it) / of(other)] : [];
  });
  return ratios.length === 0 ? null : medianOf(ratios, random);
}
