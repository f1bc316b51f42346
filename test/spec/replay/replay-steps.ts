/** Replays a trace, step by step: a move in the simulator, then a comparison of the model's state with what it shows. */
import type { Step } from './itf.ts';
import { Divergence, type Stage } from './stage.ts';

interface Play<S> {
  stage: Stage;
  /** Makes the move of a step. @returns its name, for the report */
  move: (named: string, before: S, after: S) => { name: string; done: Promise<void> };
  /** @returns what differs, as `name: model / code` */
  differences: (state: S) => string[] | Promise<string[]>;
}

/** @returns the time at its end @throws Divergence */
export async function replaySteps<S>(
  steps: readonly Step<S>[],
  { stage, move, differences }: Play<S>,
): Promise<number> {
  const made: string[] = [];
  try {
    for (const [index, { action, state }] of steps.entries()) {
      const before = steps[index - 1]?.state;
      if (before === undefined) continue;
      const { name, done } = move(action, before, state);
      made.push(name);
      await done;
      const different = await differences(state);
      if (different.length > 0) throw new Divergence(`model / code: ${different.join('; ')}`);
    }
    return stage.world.clock.nowMs;
  } catch (error) {
    if (!(error instanceof Divergence)) throw error;
    throw new Divergence(`${error.message}, after ${made.join(' ')}`);
  } finally {
    stage.world.endWorkers();
  }
}
