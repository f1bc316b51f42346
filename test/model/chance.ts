/** Arbitraries that every part of a draw uses. */
import fc from 'fast-check';

/** Null otherwise. */
export const chance = <T>(percent: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: percent, arbitrary }, { weight: 100 - percent, arbitrary: fc.constant(null) });

export const between = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max });

/** One or none. */
export const listOf = <T>(percent: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  chance(percent, arbitrary).map((value) => (value === null ? [] : [value]));

export const SERVERS = ['s1', 's2'];
export const SITES = ['a1', 'a2', 'a3'];
