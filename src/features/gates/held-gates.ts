/** The story of the gates of a wave, in the rollout's result. */
import type { Held } from '../freezes/shapes.ts';
import type { RolloutResult } from '../rollouts/shapes.ts';
import type { MeasuredGate } from './measure-gates.ts';

export interface GateHolds {
  end(): void;
}

/** Gates that decide nothing hold nothing. */
export function recordHeldGates(result: RolloutResult, wave: string, gates: readonly MeasuredGate[]): GateHolds {
  const from = new Date().toISOString();
  const open = gates
    .filter(({ plan }) => !plan.dryRun)
    .map((gate) => {
      const { name } = gate.plan;
      const held: Held = { for: 'gate', name, from, to: null, end: null, by: null, why: `after wave ${wave}` };
      result.held.push(held);
      return { gate, held };
    });
  return {
    end() {
      for (const { gate, held } of open) Object.assign(held, endOf(gate), { to: new Date().toISOString() });
    },
  };
}

function endOf({ verdict, letOff }: MeasuredGate): Partial<Held> {
  if (verdict === 'passed') return { end: 'passed' };
  if (letOff !== null) return { end: 'overridden', by: letOff.by, why: letOff.reason };
  if (verdict === 'failed') return { end: 'failed' };
  return { end: verdict === null ? 'cancelled' : 'gave_up' };
}
