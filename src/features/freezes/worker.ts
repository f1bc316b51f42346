/** Judges what is frozen: by the worker's belay.yaml, and by the ad-hoc freezes that run at Temporal. */
import type { FrozenBy, LetOff, OverrideAnswer, RunningFreeze } from './shapes.ts';
import { FREEZE_PREFIX } from '../../contract/ids.ts';
import { adHocFrozenBy, isLetOff } from './ad-hoc.ts';
import type { CurrentPolicy } from '../../config/live-policy.ts';
import { answerOverride } from './policy-override.ts';
import { actionOf, type PlannedOperation } from '../../config/policy.ts';

/** Those of these ids that run now. @throws if Temporal does not tell in time */
export type FindFreezes = (workflowIds: readonly string[], withinMs: number) => Promise<RunningFreeze[]>;

/** What holds an operation back at an instant; empty if it may go. */
type FrozenAt = (operation: PlannedOperation, atMs: number) => FrozenBy[];

interface Look {
  operations: readonly PlannedOperation[];
  /** What does not hold them back. */
  letOff?: readonly LetOff[] | undefined;
}

export interface Judge {
  /** Looks now. @returns answers about these operations. @throws if Temporal does not tell in time */
  look: (asked: Look, withinMs: number) => Promise<FrozenAt>;
  /** What these names are, as far as a run may be let off. @throws if Temporal does not tell in time */
  override: (names: readonly string[], withinMs: number) => Promise<OverrideAnswer>;
}

export function createJudge(policy: CurrentPolicy, findFreezes: FindFreezes): Judge {
  return {
    async look({ operations, letOff = [] }, withinMs) {
      const { frozenBy, adHocIds } = await policy();
      const found = await findFreezes([...new Set(operations.flatMap(adHocIds))], withinMs);
      const running = found.filter((it) => !isLetOff(it, letOff));
      const names = new Set(letOff.filter(({ since }) => since === undefined).map(({ name }) => name));
      return (operation, atMs) => {
        const ids = adHocIds(operation);
        const fitting = running.filter(({ workflowId }) => ids.includes(workflowId));
        return [...adHocFrozenBy(fitting, actionOf(operation), atMs), ...frozenBy(operation, atMs, names)];
      };
    },
    async override(names, withinMs) {
      const { overridable } = await policy();
      const adHoc = names.filter((name) => overridable(name) === null && name.startsWith(FREEZE_PREFIX));
      return answerOverride(names, overridable, await findFreezes(adHoc, withinMs));
    },
  };
}
