/** Checks a target that a message names. Pure. */
import { isRecord } from '../contract/plain-object.ts';
import { TARGET_KINDS, type Target } from '../contract/target.ts';
import { validateId } from './validate-id.ts';

/** @returns the target, or what is wrong */
export function checkTarget(target: unknown): Target | string {
  if (!isRecord(target)) return 'is not an object with kind and id';
  const { kind, id, ...others } = target;
  const known = TARGET_KINDS.find((it) => it === kind);
  if (known === undefined) return `kind: must be one of ${TARGET_KINDS.join(', ')}`;
  const problem = validateId(id);
  if (problem !== null) return `id: ${problem}`;
  const [unknown] = Object.keys(others);
  return unknown === undefined ? { kind: known, id: id as string } : `${unknown}: is not a field of a target`;
}
