/**
 * Makes code around a local activity replay as it ran. A local activity that waits long for its turn on a busy worker
 * outlives its task, and the result belongs to the next one. Core then replays the two in other portions than they were
 * made in:
 * - A task without a command is read as one with the next, so it gets the time of the later one. A timer that only lasts
 *   as long as the local activity is such a command, and leaves no event if the task ends both.
 * - The result comes in one activation with whatever came before it. So the code after it waits until the code after
 *   everything else stands still.
 */
import { CancellationScope, condition, sleep, type WorkflowInterceptors } from '@temporalio/workflow';
import { holdAnswers } from './hold-answers.ts';

/** Longer than any local activity. */
const ANCHOR_MS = 3_600_000;
/** Each lets every condition be looked at once, and the code after it run. */
const PASSES = 4;

export function interceptors(): WorkflowInterceptors {
  let lastTurn = Promise.resolve();
  /** Results that come together are seen one after another, as they may have come. */
  const whenOthersRest = async () => {
    lastTurn = lastTurn.then(pass);
    await lastTurn;
  };
  return {
    internals: [holdAnswers()],
    outbound: [
      {
        async scheduleLocalActivity(input, next) {
          const release = anchor();
          try {
            return await next(input);
          } finally {
            release();
            await whenOthersRest();
          }
        },
      },
    ],
  };
}

/** Gives this task a command. @returns what takes it back */
function anchor(): () => void {
  let release = () => {};
  void CancellationScope.nonCancellable(async () => {
    const scope = new CancellationScope();
    release = () => scope.cancel();
    await scope.run(() => sleep(ANCHOR_MS)).catch(() => undefined);
  });
  return release;
}

async function pass(): Promise<void> {
  await CancellationScope.nonCancellable(async () => {
    for (let made = 0; made < PASSES; made += 1) {
      let isLookedAt = false;
      await condition(() => isLookedAt || !(isLookedAt = true));
    }
  });
}
