/**
 * Says what is wrong with an id, a text for people, or a target, and recognizes other small values. Ids, keys and names
 * become parts of workflow ids and URL paths. Pure, and without zod, because workflows use it, too.
 */
import { MAX_ID_LENGTH, MAX_TEXT_LENGTH } from './limits.ts';
import { isRecord } from '../contract/plain-object.ts';
import { TARGET_KINDS, type Target } from '../contract/target.ts';

export const isText = (value: unknown): value is string => typeof value === 'string';
export const isTextOrNull = (value: unknown): value is string | null => value === null || isText(value);

/** False for half of an emoji, which no URL and no workflow id can hold. */
export const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

/** Such as `06:00`. */
export const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/;

/** @returns what is wrong, as the end of a sentence that begins with the id's name, or null */
export function problemOfId(id: unknown): string | null {
  if (!isText(id)) return 'is not a string';
  if (id === '') return 'is empty';
  if (id === '.' || id === '..') return `must not be "${id}"`;
  if (id.length > MAX_ID_LENGTH) return `has ${id.length} characters, at most ${MAX_ID_LENGTH} are allowed`;
  // eslint-disable-next-line no-control-regex -- matches control characters to reject them
  if (/[\u0000-\u001f\u007f-\u009f]/.test(id)) return 'has control characters';
  // Services often trim ids: with blanks, one site would have two locks.
  if (/^\s|\s$/u.test(id)) return 'begins or ends with a blank';
  if (!isWellFormed(id)) return 'is not well-formed Unicode';
  return null;
}

/** @returns what is wrong with a text for people, as the end of a sentence that begins with its name, or null */
export function problemOfText(text: unknown): string | null {
  if (typeof text !== 'string' || text.trim() === '') return 'is empty: give one';
  if (text.length <= MAX_TEXT_LENGTH) return null;
  return `has ${text.length} characters, at most ${MAX_TEXT_LENGTH} are allowed`;
}

/** @returns the target, or what is wrong */
export function targetOrProblem(target: unknown): Target | string {
  if (!isRecord(target)) return 'is not an object with kind and id';
  const { kind, id, ...others } = target;
  const known = TARGET_KINDS.find((it) => it === kind);
  if (known === undefined) return `kind: must be one of ${TARGET_KINDS.join(', ')}`;
  const problem = problemOfId(id);
  if (problem !== null) return `id: ${problem}`;
  const [unknown] = Object.keys(others);
  return unknown === undefined ? { kind: known, id: id as string } : `${unknown}: is not a field of a target`;
}
