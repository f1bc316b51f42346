/** Validates what follows the waves of a rollout. Pure. */
import { isRecord } from '../contract/plain-object.ts';
import { LIMITS, type Limits } from './limits.ts';
import { validateId } from './validate-id.ts';

/** @returns what is wrong, after its path, or null */
export function problemOfAfter(after: unknown): string | null {
  if (after === undefined) return null;
  if (!isRecord(after)) return ': is not an object';
  const { bakeMs, gates } = after;
  if (bakeMs !== undefined && !isWithin(bakeMs, LIMITS.bakeMs)) return `.bakeMs: ${rangeOf(LIMITS.bakeMs)}`;
  if (gates === undefined) return null;
  if (!Array.isArray(gates)) return '.gates: is not a list';
  const wrong = gates.findIndex((it, index) => validateId(it) !== null || gates.indexOf(it) < index);
  return wrong < 0 ? null : `.gates[${wrong}]: is not a name, or is there twice`;
}

/** @returns the first problem with its path, or null */
export function problemOfOnGates(on: unknown): string | null {
  if (on === undefined) return null;
  if (!isRecord(on)) return 'onGates: is not an object';
  for (const key of ['failed', 'inconclusive']) {
    if (![undefined, 'pause', 'stop'].includes(on[key] as undefined)) return `onGates.${key}: must be pause or stop`;
  }
  const { patienceMs } = on;
  if (patienceMs === undefined || isWithin(patienceMs, LIMITS.patienceMs)) return null;
  return `onGates.patienceMs: ${rangeOf(LIMITS.patienceMs)}`;
}

const isWithin = (value: unknown, [min, max]: Limits): boolean =>
  Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;

const rangeOf = ([min, max]: Limits): string => `must be a whole number from ${min} to ${max}`;
