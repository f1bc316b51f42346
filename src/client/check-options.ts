/** Checks options from plain JavaScript, where no compiler finds a misspelt name or a value of another type. */
import { BelayError } from '../contract/errors.ts';
import { isRecord } from '../contract/plain-object.ts';
import { plainText } from '../contract/safe-text.ts';

/**
 * A misspelt `key` would make a new run with every attempt.
 *
 * @param what names the call in the message
 * @throws BelayError of type `Usage`
 */
export function refuseUnknown<T extends object>(what: string, options: T, known: Record<keyof T, true>): void {
  const names = Object.keys(known).join(', ');
  if (!isRecord(options))
    throw new BelayError('Usage', `${what}: takes an object with ${names}, and got another value`);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  throw new BelayError('Usage', `${unknown}: is not an option of ${what}: use ${names}`);
}

/** What Temporal takes for a time. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** @throws BelayError of type `Usage` */
export function checkSince(since: unknown): void {
  if (since === undefined || (typeof since === 'string' && INSTANT.test(since))) return;
  refuse('since', since, 'is not a time: use ISO 8601, such as 2026-11-27T08:00:00Z');
}

/** @throws BelayError of type `Usage` */
export function checkLimit(limit: unknown): void {
  const isCount = limit === undefined || limit === Infinity || (Number.isInteger(limit) && Number(limit) >= 1);
  if (!isCount) refuse('limit', limit, 'is not a number of entries: use a whole number from 1');
}

/** @param remedy a command that lists such ids. @throws BelayError of type `Usage` */
export function checkWorkflowId(workflowId: unknown, remedy: string): void {
  if (typeof workflowId !== 'string' || workflowId === '')
    refuse('workflowId', workflowId, `is not an id: use one from \`${remedy}\``);
}

function refuse(name: string, value: unknown, why: string): never {
  const shown = typeof value === 'string' ? `"${plainText(value)}"` : plainText(String(value));
  throw new BelayError('Usage', `${name}: ${shown} ${why}`);
}
