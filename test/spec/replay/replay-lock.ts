/** Replays a trace of docs/spec/lock.qnt with the workflows. */
import type { Sandboxes } from '../../sim/core/sdk.ts';
import type { Step } from './itf.ts';
import { actorOf, type LockState } from './lock-model.ts';
import { LOCK_MOVES } from './lock-moves.ts';
import { differences } from './lock-shown.ts';
import { createLockStage } from './lock-stage.ts';
import { replaySteps } from './replay-steps.ts';

/** @param shares whether it is a trace of a server's lock @throws Divergence */
export async function replayLock(
  sandboxes: Sandboxes,
  steps: readonly Step<LockState>[],
  shares: boolean,
): Promise<void> {
  const stage = createLockStage(sandboxes, shares);
  await replaySteps(steps, {
    stage,
    move(action, before, after) {
      const number = actorOf(action, before, after);
      const move = LOCK_MOVES[action];
      if (move === undefined) throw new Error(`no move for ${action}`);
      return { name: `${action}(${number})`, done: move({ stage, number, before, after }) };
    },
    differences: (state) => differences(stage, state),
  });
}
