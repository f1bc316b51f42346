/** Exempts a run or rollout from the freezes and checks that its input names, and records who decided and why. */
import type { FreezeOverride, Held, LetOff, OverrideAnswer } from './shapes.ts';
import type { CheckWaiver } from '../site-checks/shapes.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';

interface Overriding {
  readonly input: { override?: FreezeOverride };
  readonly result: { held: Held[] };
  letOff: LetOff[];
}

interface Waiving {
  readonly input: { noCheck?: CheckWaiver };
  readonly result: { held: Held[] };
}

/** @param answer what the worker said when the workflow began. @returns null if it may start */
export function applyOverride(state: Overriding, answer: OverrideAnswer | undefined): Conclusion | null {
  const { override } = state.input;
  if (override === undefined) return null;
  if (answer === undefined) return conclude('not_started', 'Internal', 'the worker did not judge the override');
  if ('error' in answer) return conclude('not_started', answer.error.type, answer.error.message);
  state.letOff = answer.letOff;
  for (const { kind, name } of answer.letOff) record(state, kind, name, override);
  return null;
}

/** @param names the checks of its sites, as the worker knew them at the start */
export function recordWaiver(state: Waiving, names: readonly string[] = []): void {
  const { noCheck } = state.input;
  if (noCheck === undefined) return;
  for (const name of names) record(state, 'check', name, noCheck);
}

function record({ result }: Pick<Overriding, 'result'>, kind: Held['for'], name: string, decision: CheckWaiver): void {
  const { by = null, reason } = decision;
  const now = new Date().toISOString();
  result.held.push({ for: kind, name, from: now, to: now, end: 'overridden', by, why: reason });
}
