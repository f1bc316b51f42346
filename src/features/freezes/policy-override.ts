/** Which freezes a run may be let off. */
import type { LetOff, OverrideAnswer, RunningFreeze } from './shapes.ts';
import { plainText } from '../../contract/safe-text.ts';
import type { Overridable } from '../../config/policy.ts';

/** @param running of the names that are not in belay.yaml, those that run */
export function answerOverride(
  names: readonly string[],
  overridable: (name: string) => Overridable | null,
  running: readonly RunningFreeze[],
): OverrideAnswer {
  const letOff: LetOff[] = [];
  for (const name of names) {
    const known = overridable(name);
    const adHoc = running.find(({ workflowId }) => workflowId === name);
    if (known === null && adHoc === undefined) return { error: { type: 'Usage', message: unknownName(name) } };
    const isNever = known === null ? adHoc?.freeze?.override !== 'reason' : known.override === 'never';
    if (isNever) return { error: { type: 'Refused', message: `no run may be let off "${plainText(name)}"` } };
    const since = adHoc?.freeze?.since;
    letOff.push(since === undefined ? { kind: known?.kind ?? 'freeze', name } : { kind: 'freeze', name, since });
  }
  return { letOff };
}

const unknownName = (name: string): string =>
  `override: there is no freeze or window "${plainText(name)}": \`belay freezes\` lists them`;
