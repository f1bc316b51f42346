/** The operation or run that polls, with its progress, hints and cancellation. */
import { CancellationScope, sleep } from '@temporalio/workflow';
import type { Cancellation } from '../cancellation.ts';
import type { Hints } from './hints.ts';
import { createParking, type Parking } from './parking.ts';
import type { StatusReading } from '../../rules/verdict.ts';
import type { FailingReads, Waiting } from '../../contract/waiting.ts';
import type { Waits } from '../../contract/run.ts';
import type { PooledProgress } from '../../contract/polling.ts';

export interface Poller {
  readonly cancellation: Cancellation;
  readonly hints: Hints;
  readonly parking: Parking;
  readonly timer: PollTimer;
  readonly waits: Waits;
  readonly lastStatus: string | null;
  readonly lastReadAt: string | null;
  /** How long the last read had been answered, at most, when the workflow heard of it. */
  lagMs: number;
  /** Null if the last read was answered. */
  readonly failing: FailingReads | null;
  /** Call it for every status that was answered. */
  recordStatus(reading: StatusReading): void;
  /** @param reason null if the read was answered, with no status */
  recordFailure(reason: string | null): void;
  /** More polls, of which nothing else is known. */
  countPolls(count: number): void;
  /** The polls of a pooled wait. All of them were in progress. */
  recordPooled(progress: PooledProgress): void;
  setWaiting(waiting: Waiting | null): void;
}

/** The workflow that polls. */
export interface PollingWorkflow extends Pick<Poller, 'cancellation' | 'hints' | 'setWaiting'> {
  outageBudgetMs: number | null;
  /** Default: `loop`. */
  waits?: Waits | undefined;
  setParked: (this: void, isParked: boolean) => void;
}

/** @param part the part of the result that keeps the polls and the last status */
export function createPoller(
  part: { polls: number; lastStatus: string | null; inProgressAt: string | null },
  { cancellation, hints, setWaiting, outageBudgetMs, waits = 'loop', setParked }: PollingWorkflow,
): Poller {
  let lastReadAt: string | null = null;
  let failing: FailingReads | null = null;
  return {
    cancellation,
    hints,
    parking: createParking(outageBudgetMs, setParked),
    timer: createPollTimer(),
    waits,
    setWaiting,
    lagMs: 0,
    get lastStatus() {
      return part.lastStatus;
    },
    get lastReadAt() {
      return lastReadAt;
    },
    get failing() {
      return failing;
    },
    recordFailure(reason) {
      failing = reason === null ? null : { reads: (failing?.reads ?? 0) + 1, reason };
    },
    recordStatus({ status }) {
      failing = null;
      part.polls += 1;
      part.lastStatus = status;
      lastReadAt = new Date().toISOString();
    },
    countPolls(count) {
      part.polls += count;
    },
    recordPooled(progress) {
      failing = null;
      part.polls += progress.polls;
      part.lastStatus = progress.lastStatus ?? part.lastStatus;
      part.inProgressAt = progress.lastReadAt ?? part.inProgressAt;
      lastReadAt = progress.lastReadAt ?? lastReadAt;
    },
  };
}

/** Notes when the operation of this result was last seen in progress. */
export function noteProgress(result: { inProgressAt: string | null }, { state }: StatusReading): void {
  if (state === 'in_progress') result.inProgressAt = new Date().toISOString();
}

/** For messages. */
export function describeLastStatus({ lastStatus, lastReadAt }: Poller): string {
  return lastStatus === null ? 'never read' : `"${lastStatus}" at ${lastReadAt}`;
}

/*
 * The timer of a poll loop. A wait that ends early, for a hint or an answer, leaves the timer to the next wait for the
 * same moment: to cancel it and to start it again would be two events and a billed action.
 */

interface PollTimer {
  readonly hasFired: boolean;
  /** @param atMs not in the past */
  set(atMs: number, summary: string): void;
  cancel(): void;
}

function createPollTimer(): PollTimer {
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
