/** Values in a body of JSON. */
import { getProperty } from 'dot-prop';

/** @returns undefined if the body is not JSON */
export function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** @returns the value at a path as text; null if there is none, or if it is not a single value */
export function textAt(json: unknown, path: string): string | null {
  if (typeof json !== 'object' || json === null) return null;
  const value: unknown = getProperty(json, path);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

const MAX_SHOWN = 60;

/** The beginning of a value, for messages. It is cut between characters: half of an emoji would spoil the message. */
export const shownText = (text: string): string => [...text.slice(0, 2 * MAX_SHOWN)].slice(0, MAX_SHOWN).join('');
