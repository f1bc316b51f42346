/** The hash of what is approved, and the hashes that show that one deployment is part of it. Pure. */
import type { ApprovalPlan, HashStep, PlannedPart } from './shapes.ts';
import { hashOf } from '../../contract/hash-of.ts';

/** @returns 64 hexadecimal digits */
export const planHash = (plan: ApprovalPlan): string => hashOf(plan);

/**
 * A Merkle tree, so that a request carries the way of its own part instead of all parts. Its leaves are the deployments,
 * in their order, and those of a server are a tree of their own.
 */
export interface HashTree {
  root: string;
  /** @param index of the leaf @returns its way to the root */
  pathTo: (index: number) => HashStep[];
}

/** Of the servers. */
export const treeOf = (parts: readonly PlannedPart[]): HashTree => treeOver(parts.map((it) => targetsTreeOf(it).root));

/** Of the deployments on one server. */
export const targetsTreeOf = ({ serverId, targets }: PlannedPart): HashTree =>
  treeOver(targets.length === 0 ? [hashOf({ serverId })] : targets.map((target) => hashOf({ serverId, target })));

export const rootOf = (parts: readonly PlannedPart[]): string => treeOf(parts).root;

export function isPartOf(root: string, part: PlannedPart, path: readonly HashStep[]): boolean {
  const top = path.reduce(
    (below, { side, hash }) => (side === 'left' ? nodeOf(hash, below) : nodeOf(below, hash)),
    targetsTreeOf(part).root,
  );
  return top === root;
}

const nodeOf = (left: string, right: string): string => hashOf([left, right]);

function treeOver(leaves: readonly string[]): HashTree {
  const levels = [leaves];
  for (let level = leaves; level.length > 1; levels.push(level)) level = levelAbove(level);
  return {
    root: levels.at(-1)?.[0] ?? hashOf([]),
    pathTo: (index) =>
      levels.slice(0, -1).flatMap((level, height): HashStep[] => {
        const at = index >> height;
        const side = at % 2 === 0 ? 'right' : 'left';
        const hash = level[side === 'right' ? at + 1 : at - 1];
        return hash === undefined ? [] : [{ side, hash }];
      }),
  };
}

/** The last one of an odd number moves up as it is. */
function levelAbove(hashes: readonly string[]): string[] {
  const above: string[] = [];
  for (let index = 0; index < hashes.length; index += 2) {
    const [left = '', right] = hashes.slice(index, index + 2);
    above.push(right === undefined ? left : nodeOf(left, right));
  }
  return above;
}
