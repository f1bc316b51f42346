/** The hash of what is approved, and the hashes that show that one server is part of an approved rollout. Pure. */
import type { ApprovalPlan, HashStep, PlannedPart } from '../approval.ts';
import { hashOf } from './hash-of.ts';

/** @returns 64 hexadecimal digits */
export const planHash = (plan: ApprovalPlan): string => hashOf(plan);

const leafOf = ({ serverId, targets }: PlannedPart): string => hashOf({ serverId, targets });
const nodeOf = (left: string, right: string): string => hashOf([left, right]);

/** The last one of an odd number moves up as it is. */
function levelAbove(hashes: readonly string[]): string[] {
  const above: string[] = [];
  for (let index = 0; index < hashes.length; index += 2) {
    const [left = '', right] = hashes.slice(index, index + 2);
    above.push(right === undefined ? left : nodeOf(left, right));
  }
  return above;
}

/** The root of a Merkle tree, so that a request carries the way of its own part instead of all parts. */
export function rootOf(parts: readonly PlannedPart[]): string {
  let level = parts.map(leafOf);
  while (level.length > 1) level = levelAbove(level);
  return level[0] ?? hashOf([]);
}

/** @param index of the part */
export function pathOf(parts: readonly PlannedPart[], index: number): HashStep[] {
  const path: HashStep[] = [];
  let at = index;
  for (let level = parts.map(leafOf); level.length > 1; level = levelAbove(level)) {
    const side = at % 2 === 0 ? 'right' : 'left';
    const hash = level[side === 'right' ? at + 1 : at - 1];
    if (hash !== undefined) path.push({ side, hash });
    at = Math.floor(at / 2);
  }
  return path;
}

export function isPartOf(root: string, part: PlannedPart, path: readonly HashStep[]): boolean {
  const top = path.reduce(
    (below, { side, hash }) => (side === 'left' ? nodeOf(hash, below) : nodeOf(below, hash)),
    leafOf(part),
  );
  return top === root;
}
