/**
 * The poll loop of every operation: a durable timer that a hint can cut short, then one read. A read costs six history
 * events. This module keeps the schedule and counts tries and failures; the caller decides what a reading means.
 */
import { condition } from '@temporalio/workflow';
import type { ReadFailure, ReadResult } from '../../contract/activities.ts';
import type { Waiting } from '../../contract/waiting.ts';
import { readSummary, type ReadName } from '../../contract/wording/read-summary.ts';
import { conclude, type Conclusion } from '../common/conclusion.ts';
import { readStatus, type Reader } from './status-reader.ts';
import {
  afterHeldPoll,
  afterPoll,
  withExtraPoll,
  nextPoll,
  skipTo,
  type PollSchedule,
} from '../rules/poll-schedule.ts';
import {
  afterFailedRead,
  givenUp,
  heldBackUntilMs,
  isUnauthorized,
  NO_FAILED_READS,
  wholeTimeEndsMs,
  type GivenUp,
} from '../rules/read-failures.ts';
import { describeLastStatus, type Poller } from './poller.ts';
import { isNotDeployed } from '../rules/never-deployed.ts';
import { serviceState } from '../rules/outage.ts';
import { TIMING } from '../../contract/timing.ts';

export interface PollOptions {
  what: Extract<Waiting, { try: number }>['kind'];
  reader: Reader;
  schedule: PollSchedule;
  tries: number;
  /** `no deployment yet` is an answer. */
  notFoundAnswers?: boolean;
  /** Stops the loop once it returns true. */
  until?: () => boolean;
  /** False: failed reads end the loop, whatever the outage budget. */
  parks?: false;
  /** Call it before the first reading after an outage. */
  afterOutage?: () => void;
}

export type PollResult<V> =
  | { kind: 'decided'; value: V }
  | { kind: 'exhausted' }
  | { kind: 'given_up'; reason: GivenUp }
  | { kind: 'stopped' }
  | { kind: 'cancelled' };

/** @param own false for a read that followed a hint */
export type OnReading<V> = (read: ReadResult, own: boolean) => V | undefined;

/** Reads until `onReading` returns a value. The last try decides, so there is no sleep after it. */
export async function pollUntil<V>(
  poller: Poller,
  options: PollOptions,
  onReading: OnReading<V>,
): Promise<PollResult<V>> {
  const result = await poll(poller, options, onReading);
  // A loop that was stopped is often followed by one that waits for the same moment.
  if (result.kind !== 'stopped') poller.timer.cancel();
  return result;
}

async function poll<V>(poller: Poller, options: PollOptions, onReading: OnReading<V>): Promise<PollResult<V>> {
  const { parking } = poller;
  let wholeEndsMs = wholeTimeEndsMs(options.schedule.originMs, options.schedule.intervalMs, options.tries);
  let schedule = options.schedule;
  let made = 0;
  let failed = NO_FAILED_READS;
  let notBeforeMs = 0;
  for (;;) {
    const parked = parking.current;
    const due = parked === null ? nextPoll(schedule, notBeforeMs) : { atMs: parked.readAtMs, isTry: false };
    const tries = Math.max(options.tries, 1);
    const attempt = Math.min(made + 1, tries);
    const { lastStatus } = poller;
    const summary = (of: ReadName) => readSummary({ kind: options.what, try: attempt, tries, lastStatus }, of);
    const name = due.isTry ? 'try' : parked === null ? 'early' : 'parked';
    showWaiting(poller, options.what, { attempt, tries, dueMs: due.atMs });
    const woken = await sleepUntilDue(poller, options, due.atMs, summary(name));
    if (woken === 'cancelled' || woken === 'stopped') return { kind: woken };
    const isTry = woken === 'due' && due.isTry;

    const isHinted = woken === 'hint';
    const reading = readStatus(options.reader, summary(isHinted ? 'hinted' : name), isHinted ? undefined : due.atMs);
    const read = await unlessCancelled(poller, reading);
    if (read === null) return { kind: 'cancelled' };
    const nowMs = Date.now();
    if (parked !== null && serviceState(read) === 'answers') {
      // The wait goes on with the time and the tries that it had left.
      wholeEndsMs += parking.leave(nowMs);
      schedule = skipTo(schedule, nowMs);
      failed = NO_FAILED_READS;
      options.afterOutage?.();
    }
    if (read.ok) poller.recordStatus(read);
    const value = onReading(read, woken === 'due');
    if (value !== undefined) return { kind: 'decided', value };

    const againMs = heldBackUntilMs(read, nowMs);
    schedule = againMs === null ? afterPoll(schedule, nowMs, isTry) : afterHeldPoll(schedule, nowMs, isTry, againMs);
    if (read.ok || (options.notFoundAnswers === true && isNotDeployed(read))) {
      made += isTry ? 1 : 0;
      failed = NO_FAILED_READS;
      notBeforeMs = 0;
      if (made >= options.tries) return { kind: 'exhausted' };
    } else {
      notBeforeMs = againMs ?? nowMs + (read.retryAfterMs ?? 0);
      if (againMs === null && (isTry || isUnauthorized(read))) failed = afterFailedRead(failed, read, nowMs);
      if (isUnauthorized(read) && schedule.intervalMs > TIMING.poll.unauthorizedPauseMs) {
        schedule = withExtraPoll(schedule, nowMs + TIMING.poll.unauthorizedPauseMs);
      }
      const nextAtMs = nextPoll(schedule, notBeforeMs).atMs;
      const reason = givenUp(failed, read, { nowMs, nextAtMs, wholeEndsMs }) ?? parking.current?.reason ?? null;
      const end = reason === null ? null : parkOrEnd(poller, options, read, reason, notBeforeMs);
      if (end !== null) return { kind: 'given_up', reason: end };
    }
  }
}

/** @returns null if the operation is parked now, else why it ends */
function parkOrEnd(
  { parking }: Poller,
  { parks }: PollOptions,
  read: ReadFailure,
  reason: GivenUp,
  notBeforeMs: number,
): GivenUp | null {
  const isDown = parking.current !== null || serviceState(read) === 'down';
  return isDown && parks !== false ? parking.park(reason, Date.now(), notBeforeMs) : reason;
}

/** Concludes for an operation that has begun at the service and whose end was not seen. */
export function concludeInterrupted(
  poller: Poller,
  name: string,
  polled: PollResult<never> & { kind: 'given_up' | 'cancelled' },
): Conclusion {
  if (polled.kind === 'given_up') return conclude('unknown', polled.reason.type, `${name}: ${polled.reason.message}`);
  const message = `cancelled; ${name} continues at the service, last status ${describeLastStatus(poller)}`;
  return conclude('cancelled', 'Cancelled', message);
}

export async function sleepUntil(poller: Poller, atMs: number, summary: string): Promise<'slept' | 'cancelled'> {
  const ms = atMs - Date.now();
  poller.timer.cancel();
  if (ms > 0) await condition(() => poller.cancellation.requested, ms, { summary });
  return poller.cancellation.requested ? 'cancelled' : 'slept';
}

/** A read may hang, so cancellation does not wait for it. @returns null once cancelled */
async function unlessCancelled(poller: Poller, reading: Promise<ReadResult>): Promise<ReadResult | null> {
  return Promise.race([reading, poller.cancellation.whenRequested.then(() => null)]);
}

async function sleepUntilDue(
  poller: Poller,
  { until }: PollOptions,
  dueMs: number,
  summary: string,
): Promise<'due' | 'hint' | 'stopped' | 'cancelled'> {
  const { timer, cancellation, hints } = poller;
  for (;;) {
    if (cancellation.requested) return 'cancelled';
    if (until?.() === true) return 'stopped';
    const nowMs = Date.now();
    const hintMs = hints.readableAtMs(nowMs);
    if (hintMs !== null && hintMs <= nowMs) {
      hints.take(nowMs);
      return 'hint';
    }
    if (dueMs <= nowMs) return 'due';
    const wakeMs = Math.min(dueMs, hintMs ?? dueMs);
    timer.set(wakeMs, summary);
    await condition(
      () => timer.hasFired || cancellation.requested || until?.() === true || (hintMs === null && hints.pending),
    );
  }
}

function showWaiting(
  poller: Poller,
  what: PollOptions['what'],
  { attempt, tries, dueMs }: { attempt: number; tries: number; dueMs: number },
): void {
  const { lastStatus, lastReadAt, parking } = poller;
  poller.setWaiting({
    kind: what,
    try: attempt,
    tries,
    lastStatus,
    lastReadAt,
    nextReadAt: new Date(dueMs).toISOString(),
    ...(parking.current === null ? {} : { parked: parking.current.shown }),
  });
}
