/** Makes notes fit: CI jobs pass commit messages, and a long one must refuse no deployment. Pure. */
import { isRecord } from '../contract/plain-object.ts';
import { MAX_META_LENGTH } from './limits.ts';

/** The input with every note cut that is too long. What is no note at all stays, for the validation. */
export function withFittingMeta<T extends { meta?: Record<string, string> }>(input: T): T {
  if (!isRecord(input) || tooLong(input.meta).length === 0) return input;
  const entries = Object.entries(input.meta ?? {});
  return {
    ...input,
    meta: Object.fromEntries(entries.map(([name, value]) => [name, isTooLong(value) ? cut(value) : value])),
  };
}

/** The names of the notes that are cut. */
export const tooLong = (meta: Record<string, string> | undefined): string[] =>
  isRecord(meta) ? Object.keys(meta).filter((name) => isTooLong(meta[name])) : [];

const isTooLong = (value: unknown): boolean => typeof value === 'string' && value.length > MAX_META_LENGTH;

/** Half of a character beyond U+FFFF would be left at the end. */
const cut = (value: string): string => `${value.slice(0, MAX_META_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;
