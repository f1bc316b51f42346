/** Fills in every default of a run's input. Pure. */
import type { RunInput, RunPlan } from '../contract/run.ts';
import { setValueAt, valueAt, RUN_OPTIONS } from './run-options.ts';

export function planRun(input: RunInput): RunPlan {
  const plan = {} as RunPlan;
  for (const option of RUN_OPTIONS.filter(({ isPlanned }) => isPlanned !== false)) {
    const value = valueAt(input, option.path) ?? option.derived?.from(plan) ?? option.default;
    const { atLeast } = option;
    setValueAt(plan, option.path, atLeast === undefined ? value : Math.max(value as number, atLeast));
  }
  return plan;
}
