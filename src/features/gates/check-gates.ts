/** Checks the gates in belay.yaml, and the names of those that follow a wave. */
import { ownEntry } from '../../contract/plain-object.ts';
import { GATE_DEFAULTS } from '../../request/limits.ts';
import type { Configuration } from '../../config/file/file-schema.ts';
import type { GateConfig } from './config.ts';
import { firstRepeated } from '../../config/file/schema-values.ts';
import { misfitIn } from './check-gate-kind.ts';
import { oneOf, type Report } from '../../config/file/config-issue.ts';

/** How often and how many times a gate is measured. */
export function gatePace(gate: Pick<GateConfig, 'interval' | 'tries' | 'inARow'>) {
  const { interval = GATE_DEFAULTS.interval, tries = GATE_DEFAULTS.tries } = gate;
  return { interval, tries, inARow: gate.inARow ?? Math.min(GATE_DEFAULTS.inARow, tries) };
}

export function checkGates({ gates = {}, rollouts = {} }: Configuration, report: Report): void {
  for (const [name, gate] of Object.entries(gates)) {
    const misfit = misfitIn(gate);
    if (misfit !== null) report(['gates', name, ...misfit.path], misfit.message);
    const { tries, inARow } = gatePace(gate);
    if (inARow > tries) report(['gates', name, 'inARow'], `it is more than the ${tries} tries: lower it`);
    if ((gate.failures ?? 0) >= tries)
      report(['gates', name, 'failures'], `it is not below the ${tries} tries: lower it`);
  }
  for (const [name, { waves = [] }] of Object.entries(rollouts)) {
    for (const [index, { after }] of waves.entries()) {
      const named = after?.gates ?? [];
      const path = ['rollouts', name, 'waves', index, 'after', 'gates'];
      const repeated = firstRepeated(named);
      if (repeated >= 0) report([...path, repeated], `duplicate gate ${named[repeated]}: remove one`);
      for (const [place, gate] of named.entries()) {
        if (ownEntry(gates, gate) === undefined)
          report([...path, place], `there is no gate ${gate}: ${oneOf(gates, 'gates')}`);
      }
    }
  }
}
