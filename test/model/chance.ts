/** Arbitraries that every part of a draw uses. */
import fc from 'fast-check';

/** Null in the other cases. */
export const chance = <T>(percent: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: percent, arbitrary }, { weight: 100 - percent, arbitrary: fc.constant(null) });

export const between = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max });

/** One or no element. */
export const listOf = <T>(percent: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  chance(percent, arbitrary).map((value) => (value === null ? [] : [value]));

export const SERVERS = ['s1', 's2'];
/** Sites, and an app. */
export const TARGETS = ['a1', 'a2', 'b1'];
