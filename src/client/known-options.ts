/** Options from plain JavaScript, where no compiler finds a typing mistake. */
import { BelayError } from '../contract/errors.ts';

/**
 * A misspelt `key` would make a new run with every attempt.
 * @param what the call, for the message
 * @throws BelayError of type `Usage`
 */
export function refuseUnknown<T extends object>(what: string, options: T, known: Record<keyof T, true>): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const names = Object.keys(known).join(', ');
  throw new BelayError('Usage', `${unknown}: is not an option of ${what}: use ${names}`);
}
