/** The time for which Temporal put off the calls of a scope. It extends the deadline of the scope. */
import { AsyncLocalStorage } from 'node:async_hooks';

const scope = new AsyncLocalStorage<{ ms: number }>();

export const withPutOff = <T>(act: () => Promise<T>): Promise<T> => scope.run({ ms: 0 }, act);

/** Of the scope that a call is made in. */
export const putOffNow = (): { ms: number } => scope.getStore() ?? { ms: 0 };
