/** Types that tie a zod schema to a contract type: a field added to only one of them does not compile. */

/** True for identical types only; mutual assignability would let a new optional field pass. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

export type Assert<T extends true> = T;
