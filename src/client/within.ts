/** Bounds what is asked of Temporal, and reports its errors as those of Belay. */
import type { Session } from './session.ts';
import { toBelayError } from './to-belay-error.ts';

/** @param what the action, such as `list runs`. @throws BelayError */
export const within = <T>(
  { client }: Pick<Session, 'client'>,
  ms: number,
  what: string,
  act: () => Promise<T>,
): Promise<T> =>
  client.withDeadline(Date.now() + ms, act).catch((error: unknown) => {
    throw toBelayError(error, what);
  });
