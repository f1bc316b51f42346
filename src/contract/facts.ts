/**
 * What the configuration of a worker says about a request. A workflow asks once, when it begins, and records the
 * answer.
 */

/** Keyed by name. Each feature knows the shape of its own fact. */
export type Facts = Readonly<Record<string, unknown>>;

export interface FactName<T> {
  readonly name: string;
  /** Carries only the type. It never has a value. */
  readonly type?: T;
}

export const factOf = <T>({ facts }: { facts?: Facts }, { name }: FactName<T>): T | undefined =>
  facts?.[name] as T | undefined;
