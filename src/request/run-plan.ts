/** A run's input with every default filled in. Pure. */
import type { DeployOptions, Polling, RunInput } from '../contract/run.ts';
import { setValueAt, valueAt } from './option-path.ts';
import { RUN_OPTIONS } from './run-options.ts';

export interface RunPlan {
  backup: {
    intervalMs: number;
    tries: number;
    maxAgeMs: number | null;
    maxAgeAtDeployMs: number;
    backupId: string | null;
  };
  deploy: Required<DeployOptions>;
  polling: Polling;
  ifBusy: 'wait' | 'fail';
  busyTimeoutMs: number;
  outageBudgetMs: number | null;
  startWithinMs: number;
  startDeploysWithinMs: number | null;
  keepGoing: boolean;
}

export function planRun(input: RunInput): RunPlan {
  const plan = {} as RunPlan;
  for (const option of RUN_OPTIONS.filter(({ isPlanned }) => isPlanned !== false)) {
    const value = valueAt(input, option.path) ?? option.derived?.from(plan) ?? option.default;
    const { atLeast } = option;
    setValueAt(plan, option.path, atLeast === undefined ? value : Math.max(value as number, atLeast));
  }
  return plan;
}
