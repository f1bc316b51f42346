/** The operation or run that polls, with its progress, hints, outages and cancellation. */
import { CancellationScope, sleep } from '@temporalio/workflow';
import type { Cancellation } from '../cancellation.ts';
import type { Hints } from './hints.ts';
import type { FailingReads, Parked, Waiting } from '../../contract/waiting.ts';
import type { Phase } from '../../contract/names.ts';
import type { OperationPhase } from '../../contract/operation.ts';
import { endWithoutParking, outageEndsMs, parkedReadAtMs, type Outage } from '../../rules/outage.ts';
import type { GivenUp } from '../../rules/read-failures.ts';

/** What a result keeps of its reads. */
export interface Polled {
  polls: number;
  lastStatus: string | null;
  inProgressAt: string | null;
}

export interface Poller<R extends Polled = Polled> {
  readonly result: R;
  readonly cancellation: Cancellation;
  readonly hints: Hints;
  readonly parking: ReturnType<typeof createParking>;
  readonly timer: ReturnType<typeof createPollTimer>;
  lastReadAt: string | null;
  /** The time from the answer to the last read until the workflow heard of it, or more. */
  lagMs: number;
  failing: FailingReads | null;
  /** Whether the last status of a deployment is final, and did not decide. */
  isUnproven: boolean;
  setWaiting(this: void, waiting: Waiting | null): void;
}

interface Phased {
  phase(): Phase | OperationPhase;
  setPhase(phase: Phase | OperationPhase): void;
}

export function createPoller<R extends Polled>(
  result: R,
  outageBudgetMs: number | null,
  workflow: Phased & Pick<Poller, 'cancellation' | 'hints' | 'setWaiting'>,
): Poller<R> {
  const { cancellation, hints, setWaiting } = workflow;
  return {
    result,
    cancellation,
    hints,
    setWaiting,
    parking: createParking(outageBudgetMs, workflow),
    timer: createPollTimer(),
    lastReadAt: null,
    lagMs: 0,
    failing: null,
    isUnproven: false,
  };
}

export function describeLastStatus({ result: { lastStatus }, lastReadAt }: Poller): string {
  return lastStatus === null ? 'never read' : `"${lastStatus}" at ${lastReadAt}`;
}

/* A parked operation waits for a service that does not answer. Its outages share one budget. */

/** While it is parked, the phase is `parked`. Afterwards, the phase is the one from before. */
export function createParking(budgetMs: number | null, workflow: Phased) {
  let outage: Outage = { budgetMs, spentMs: 0, sinceMs: null };
  let current: { readAtMs: number; reason: GivenUp; shown: Parked } | null = null;
  let before = workflow.phase();
  return {
    /** When to read next, and what to show; null while not parked. */
    get current() {
      return current;
    },
    /** How long it was parked before. No other budget includes that time. */
    get spentMs() {
      return outage.spentMs;
    },
    /** Parks, or stays parked. @returns null if it is parked now, else why it ends */
    park(reason: GivenUp, nowMs: number, notBeforeMs: number): GivenUp | null {
      const readAtMs = parkedReadAtMs(outage, nowMs, notBeforeMs);
      if (readAtMs === null) return endWithoutParking(outage, reason);
      if (outage.sinceMs === null) {
        before = workflow.phase();
        workflow.setPhase('parked');
      }
      const sinceMs = outage.sinceMs ?? nowMs;
      outage = { ...outage, sinceMs };
      const [since, until] = [new Date(sinceMs).toISOString(), new Date(outageEndsMs(outage, nowMs)).toISOString()];
      current = { readAtMs, reason, shown: { since, until, reason: reason.message } };
      return null;
    },
    /** The service answers again. @returns how long it was parked this time */
    leave(nowMs: number): number {
      const parkedMs = nowMs - (outage.sinceMs ?? nowMs);
      outage = { ...outage, spentMs: outage.spentMs + parkedMs, sinceMs: null };
      current = null;
      workflow.setPhase(before);
      return parkedMs;
    },
  };
}

/*
 * The timer of a poll loop. A wait that ends early, for a hint or an answer, leaves the timer to the next wait for the
 * same moment: to cancel it and to start it again would be two events and a billed action.
 */

function createPollTimer() {
  let timer: { atMs: number; hasFired: boolean; scope: CancellationScope } | null = null;

  function cancel(): void {
    if (timer?.hasFired === false) timer.scope.cancel();
    timer = null;
  }

  return {
    get hasFired(): boolean {
      return timer?.hasFired === true;
    },
    /** @param atMs not in the past */
    set(atMs: number, summary: string): void {
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
