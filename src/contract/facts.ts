/** What the configuration of a worker says about a request. Asked once, when it begins, and recorded. */

/** By name. Each feature knows the shape of its own. */
export type Facts = Readonly<Record<string, unknown>>;

/** The name of a fact, with its type. */
export interface FactName<T> {
  readonly name: string;
  /** Has no value. */
  readonly type?: T;
}

export const factOf = <T>({ facts }: { facts?: Facts }, { name }: FactName<T>): T | undefined =>
  facts?.[name] as T | undefined;
