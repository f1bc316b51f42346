/** Lets a run or rollout off the freezes that its input overrides, and keeps in its result by whom and why. */
import type { FreezeOverride, Held, LetOff, OverrideAnswer } from '../../contract/freeze.ts';
import { conclude, type Conclusion } from './conclusion.ts';

interface Overriding {
  readonly input: { override?: FreezeOverride };
  readonly result: { held: Held[] };
  letOff: LetOff[];
}

/** @param answer what the worker said when it began. @returns null if it may start */
export function applyOverride(state: Overriding, answer: OverrideAnswer | undefined): Conclusion | null {
  const { override } = state.input;
  if (override === undefined) return null;
  const { reason, by = null } = override;
  if (answer === undefined) return conclude('not_started', 'Internal', 'the worker did not judge the override');
  if ('error' in answer) return conclude('not_started', answer.error.type, answer.error.message);
  state.letOff = answer.letOff;
  const now = new Date().toISOString();
  for (const { kind, name } of answer.letOff) {
    state.result.held.push({ for: kind, name, from: now, to: now, end: 'overridden', by, why: reason });
  }
  return null;
}
