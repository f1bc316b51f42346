/** The time for which Temporal put off the calls of a scope. It extends the deadline of the scope. */
import { AsyncLocalStorage } from 'node:async_hooks';

interface PutOff {
  ms: number;
  /** False: a call that Temporal limits fails at once. */
  isAllowed: boolean;
}

const scope = new AsyncLocalStorage<PutOff>();

export const withPutOff = <T>(act: () => Promise<T>): Promise<T> => scope.run({ ms: 0, isAllowed: true }, act);

/** For calls that are not worth a wait. */
export const withoutPutOff = <T>(act: () => Promise<T>): Promise<T> => scope.run({ ms: 0, isAllowed: false }, act);

/** Of the scope that a call is made in. */
export const putOffNow = (): PutOff => scope.getStore() ?? { ms: 0, isAllowed: true };
