/** Lists the differences between two schedules, one per line. Pure. */
import { isRecord } from '../../contract/plain-object.ts';

const MAX_LENGTH = 60;

/** `catchUpMs: 3600000 → 60000`. */
export function differences(before: unknown, after: unknown, path = ''): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (isRecord(before) && isRecord(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => differences(before[key], after[key], path === '' ? key : `${path}.${key}`));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((one: unknown, index) => differences(one, after[index], `${path}.${index}`));
  }
  return [`${path}: ${shown(before)} → ${shown(after)}`];
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  const text = JSON.stringify(value);
  if (text.length <= MAX_LENGTH) return text;
  return Array.isArray(value) ? `${value.length} entries` : `${text.slice(0, MAX_LENGTH - 1)}…`;
}
