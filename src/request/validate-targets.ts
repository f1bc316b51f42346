/** Checks what a run is to deploy. Pure. */
import type { RunType } from '../contract/names.ts';
import { isRecord } from '../contract/plain-object.ts';
import { isSameTarget, siteTarget, TARGET_KINDS, type Target } from '../contract/target.ts';
import { targetText } from '../contract/wording/target-text.ts';
import { MAX_TARGETS } from './limits.ts';
import { validateId } from './validate-id.ts';

/** @returns the first problem of any JSON, with the place in it, or null */
export function validateTargets(type: RunType, input: { siteIds?: unknown; targets?: unknown }): string | null {
  if (input.siteIds !== undefined && input.targets !== undefined)
    return 'targets: is given beside siteIds, use one of them';
  const field = input.targets === undefined ? 'siteIds' : 'targets';
  const list = input[field] === undefined ? [] : input[field];
  if (!Array.isArray(list)) return `${field}: is not a list`;
  const problem = validateCount(type, field, list.length);
  if (problem !== null) return problem;
  const before: Target[] = [];
  for (const [index, entry] of (list as unknown[]).entries()) {
    const checked = field === 'siteIds' ? checkSite(entry) : checkTarget(entry);
    if (typeof checked === 'string') return `${field}[${index}]: ${checked}`;
    if (before.some((it) => isSameTarget(it, checked)))
      return `${field}[${index}]: names the ${targetText(checked)} twice`;
    before.push(checked);
  }
  return null;
}

function validateCount(type: RunType, field: 'siteIds' | 'targets', count: number): string | null {
  const what = field === 'siteIds' ? 'site' : 'target';
  if (type === 'backupOnly') return count === 0 ? null : `${field}: backupOnly deploys nothing, leave it empty`;
  if (count === 0) return `${field}: is empty, ${type} needs a ${what}`;
  if (type === 'watchDeployment' && count > 1) return `${field}: watchDeployment follows one ${what}`;
  return count > MAX_TARGETS ? `${field}: has ${count} ${what}s, at most ${MAX_TARGETS} are allowed` : null;
}

/** @returns the target, or what is wrong */
const checkSite = (id: unknown): Target | string => validateId(id) ?? siteTarget(id as string);

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
