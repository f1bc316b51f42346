/** How values are spread. Pure. */
import { shareOf } from './share-of.ts';

export interface Spread {
  count: number;
  p50: number;
  p90: number;
  p99: number;
  most: number;
}

export const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

/** @param sorted ascending */
export const spreadOf = (sorted: readonly number[]): Spread => ({
  count: sorted.length,
  p50: shareOf(sorted, 0.5),
  p90: shareOf(sorted, 0.9),
  p99: shareOf(sorted, 0.99),
  most: shareOf(sorted, 1),
});

export const mean = (values: readonly number[]): number => values.reduce((sum, it) => sum + it, 0) / values.length;
