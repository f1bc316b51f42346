/**
 * The timer of a poll loop. A wait that ends early, for a hint or an answer, leaves the timer to the next wait for the
 * same moment: to cancel it and to start it again would be two events and a billed action.
 */
import { CancellationScope, sleep } from '@temporalio/workflow';

export interface PollTimer {
  readonly hasFired: boolean;
  /** @param atMs not in the past */
  set(atMs: number, summary: string): void;
  cancel(): void;
}

export function createPollTimer(): PollTimer {
  let timer: { atMs: number; hasFired: boolean; scope: CancellationScope } | null = null;

  function cancel(): void {
    if (timer?.hasFired === false) timer.scope.cancel();
    timer = null;
  }

  return {
    get hasFired() {
      return timer?.hasFired === true;
    },
    set(atMs, summary) {
      if (timer?.hasFired === false && timer.atMs === atMs) return;
      cancel();
      const started = { atMs, hasFired: false, scope: new CancellationScope({ cancellable: true }) };
      timer = started;
      void started.scope
        .run(() => sleep(atMs - Date.now(), { summary }))
        .then(
          () => (started.hasFired = true),
          () => undefined,
        );
    },
    cancel,
  };
}
