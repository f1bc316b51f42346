/** Lets a run off the freezes that its input overrides, and keeps in its result by whom and why. */
import type { OverrideAnswer } from '../../contract/freeze.ts';
import { conclude, type Conclusion } from '../common/conclusion.ts';
import type { RunState } from './run-state.ts';

/** @param answer what the worker said when the run began. @returns null if the run may start */
export function applyOverride(run: RunState, answer: OverrideAnswer | undefined): Conclusion | null {
  const { input, result } = run;
  if (input.override === undefined) return null;
  const { reason, by = null } = input.override;
  if (answer === undefined) return conclude('not_started', 'Internal', 'the worker did not judge the override');
  if ('error' in answer) return conclude('not_started', answer.error.type, answer.error.message);
  run.letOff = answer.letOff;
  const now = new Date().toISOString();
  for (const { kind, name } of answer.letOff) {
    result.held.push({ for: kind, name, from: now, to: now, end: 'overridden', by, why: reason });
  }
  return null;
}
