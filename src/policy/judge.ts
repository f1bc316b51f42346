/** Judges what is frozen: by the worker's belay.yaml, and by the ad-hoc freezes that run at Temporal. */
import type { FrozenBy, RunningFreeze } from '../contract/freeze.ts';
import { adHocFrozenBy } from './ad-hoc.ts';
import type { CurrentPolicy } from './live-policy.ts';
import { actionOf, type PlannedOperation } from './policy.ts';

/** Those of these ids that run now. @throws if Temporal does not tell in time */
export type FindFreezes = (workflowIds: readonly string[], withinMs: number) => Promise<RunningFreeze[]>;

/** What holds an operation back at an instant; empty if it may go. */
export type FrozenAt = (operation: PlannedOperation, atMs: number) => FrozenBy[];

export interface Judge {
  /** Looks now. @returns answers about these operations. @throws if Temporal does not tell in time */
  look: (operations: readonly PlannedOperation[], withinMs: number) => Promise<FrozenAt>;
}

export function createJudge(policy: CurrentPolicy, findFreezes: FindFreezes): Judge {
  return {
    async look(operations, withinMs) {
      const { frozenBy, adHocIds } = await policy();
      const running = await findFreezes([...new Set(operations.flatMap(adHocIds))], withinMs);
      return (operation, atMs) => {
        const ids = adHocIds(operation);
        const fitting = running.filter(({ workflowId }) => ids.includes(workflowId));
        return [...adHocFrozenBy(fitting, actionOf(operation), atMs), ...frozenBy(operation, atMs)];
      };
    },
  };
}
