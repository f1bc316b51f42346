/** Holds an operation's next task back for a while after it has handed its lock over. Others may ask it meanwhile. */
import { isOperation, type Run } from '../temporal/types.ts';
import type { Gate } from '../temporal/gate.ts';
import type { Tape } from '../tape.ts';
import type { World } from '../world.ts';

const HOLDS_MS = [0, 0, 300, 1_000, 3_000, 10_000];

/** @param world is asked only once plays have begun */
export function drawSlowHandOvers(tape: Tape, world: () => Pick<World, 'clock' | 'faults'>): Gate {
  const isDrawn = tape.choose('slow hand-overs', 2) === 1;
  return {
    pass(it, goOn) {
      const { clock, faults } = world();
      const isOne = isDrawn && faults && it.kind === 'task' && hasHandedOver(it.run);
      const holdMs = isOne ? HOLDS_MS[tape.choose('hand-over', HOLDS_MS.length)]! : 0;
      if (holdMs === 0) goOn();
      else clock.after(holdMs, goOn);
    },
  };
}

/** Its only signals release its lock. Its next task has just been scheduled. */
const hasHandedOver = (run: Run): boolean => isOperation(run) && run.history.at(-2)?.kind === 'signalSent';
