/**
 * The timer of a poll loop. A wait that ends early, for a hint or an answer, leaves the timer to the next wait for the
 * same moment: to cancel it and to start it again would be two events and a billed action.
 */
import { CancellationScope, sleep } from '@temporalio/workflow';

export interface Alarm {
  /** Whether the moment has come. */
  readonly rang: boolean;
  /** @param atMs not in the past */
  set(atMs: number, summary: string): void;
  cancel(): void;
}

export function createAlarm(): Alarm {
  let timer: { atMs: number; rang: boolean; scope: CancellationScope } | null = null;

  function cancel(): void {
    if (timer?.rang === false) timer.scope.cancel();
    timer = null;
  }

  return {
    get rang() {
      return timer?.rang === true;
    },
    set(atMs, summary) {
      if (timer?.rang === false && timer.atMs === atMs) return;
      cancel();
      const started = { atMs, rang: false, scope: new CancellationScope({ cancellable: true }) };
      timer = started;
      void started.scope
        .run(() => sleep(atMs - Date.now(), { summary }))
        .then(
          () => (started.rang = true),
          () => undefined,
        );
    },
    cancel,
  };
}
