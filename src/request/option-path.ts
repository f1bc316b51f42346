/** Paths of options in a run's input, such as `deploy.settleMs` or `keepGoing`. Pure. */
import type { RunInput } from '../contract/run.ts';
import type { TargetsInput } from '../contract/target.ts';

type OptionGroup = 'backup' | 'deploy';
type GroupPath<G extends OptionGroup> = `${G}.${keyof NonNullable<RunInput[G]> & string}`;

/** Every field of a run's input except what it acts on. */
export type RunOptionPath =
  | GroupPath<'backup'>
  | GroupPath<'deploy'>
  | Exclude<
      keyof RunInput,
      | OptionGroup
      | keyof TargetsInput
      | 'service'
      | 'epoch'
      | 'serverId'
      | 'fleet'
      | 'deploysUntil'
      | 'override'
      | 'noCheck'
      | 'approved'
    >;

export type ValueAt<P extends RunOptionPath> = P extends `${infer G extends OptionGroup}.${infer F}`
  ? NonNullable<NonNullable<RunInput[G]>[F & keyof NonNullable<RunInput[G]>]>
  : NonNullable<RunInput[P & keyof RunInput]>;

type Tree = Record<string, unknown>;

/** @returns the group, or null for a field of the input itself, and the field's name */
export function splitPath(path: RunOptionPath): { group: OptionGroup | null; field: string } {
  const [first = '', second] = path.split('.');
  return second === undefined ? { group: null, field: first } : { group: first as OptionGroup, field: second };
}

export function valueAt(tree: object, path: RunOptionPath): unknown {
  const { group, field } = splitPath(path);
  const branch = group === null ? tree : ((tree as Tree)[group] ?? {});
  return (branch as Tree)[field];
}

/** Makes the group if there is none. */
export function setValueAt(tree: object, path: RunOptionPath, value: unknown): void {
  const { group, field } = splitPath(path);
  const branch = group === null ? tree : ((tree as Tree)[group] ??= {});
  (branch as Tree)[field] = value;
}
