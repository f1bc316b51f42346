/**
 * The poll loop of every operation: a durable timer that a hint can cut short, then one read. A read costs six history
 * events. `rules/poll-state.ts` keeps the schedule and counts tries and failures; the caller decides what a reading means.
 */
import { condition } from '@temporalio/workflow';
import type { ReadFailure, ReadResult } from '../../contract/activities.ts';
import type { WaitingForRead } from '../../contract/waiting.ts';
import { readSummary, type ReadName } from '../../contract/wording/read-summary.ts';
import { conclude, type Conclusion } from '../common/conclusion.ts';
import { report } from '../common/report.ts';
import { readStatus, type Reader } from './status-reader.ts';
import {
  afterOutage,
  afterRead,
  beginPolling,
  nextRead,
  type PollPlan,
  type PollState,
} from '../../rules/poll-state.ts';
import type { GivenUp } from '../../rules/read-failures.ts';
import { describeLastStatus, type Poller } from './poller.ts';
import { serviceState } from '../../rules/outage.ts';

export interface PollOptions extends PollPlan {
  what: WaitingForRead['kind'];
  reader: Reader;
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
  let state = beginPolling(options);
  for (;;) {
    const readyMs = Date.now();
    const parked = parking.current;
    const due = parked === null ? nextRead(state) : { atMs: parked.readAtMs, isTry: false };
    const name = due.isTry ? 'try' : parked === null ? 'early' : 'parked';
    const summary = showWaiting(poller, options, state, due.atMs);
    const woken = await sleepUntilDue(poller, options, due.atMs, summary(name));
    if (woken === 'cancelled' || woken === 'stopped') return { kind: woken };
    const hintedMs = typeof woken === 'object' ? woken.hintedMs : null;
    const isHinted = hintedMs !== null;
    // A read that became due during a slower one is not late.
    const dueMs = isHinted ? undefined : Math.max(due.atMs, readyMs);
    const reading = readStatus(options.reader, summary(isHinted ? 'hinted' : name), dueMs);
    const read = await unlessCancelled(poller, reading);
    if (read === null) return { kind: 'cancelled' };

    const nowMs = Date.now();
    if (parked !== null && serviceState(read) === 'answers') {
      state = afterOutage(state, nowMs, parking.leave(nowMs));
      options.afterOutage?.();
    }
    if (read.ok) poller.recordStatus(read);
    const value = onReading(read, !isHinted);
    if (value !== undefined) {
      if (hintedMs !== null) reportHint(options, nowMs - hintedMs);
      return { kind: 'decided', value };
    }
    const after = afterRead(options, state, read, { nowMs, isTry: due.isTry && !isHinted });
    state = after.state;
    if (after.end === 'exhausted') return { kind: 'exhausted' };
    const reason = read.ok ? null : parkOrEnd(poller, options, read, after.end, state.notBeforeMs);
    if (reason !== null) return { kind: 'given_up', reason };
  }
}

/** What another deployment did is not a verdict. */
function reportHint({ what }: PollOptions, afterMs: number): void {
  if (what === 'backup' || what === 'deployment') report.hintDecided({ operation: what, afterMs });
}

/**
 * @param end why failed reads end the loop, if they do
 * @returns null if it goes on, parked or not, else why it ends
 */
function parkOrEnd(
  { parking }: Poller,
  { parks }: PollOptions,
  read: ReadFailure,
  end: GivenUp | null,
  notBeforeMs: number,
): GivenUp | null {
  const reason = end ?? parking.current?.reason ?? null;
  if (reason === null || parks === false) return reason;
  const isDown = parking.current !== null || serviceState(read) === 'down';
  return isDown ? parking.park(reason, Date.now(), notBeforeMs) : reason;
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

/** A hint comes with the time when it arrived. */
type Woken = 'due' | 'stopped' | 'cancelled' | { hintedMs: number };

async function sleepUntilDue(poller: Poller, { until }: PollOptions, dueMs: number, summary: string): Promise<Woken> {
  const { timer, cancellation, hints } = poller;
  for (;;) {
    if (cancellation.requested) return 'cancelled';
    if (until?.() === true) return 'stopped';
    const nowMs = Date.now();
    const hintMs = hints.readableAtMs(nowMs);
    if (hintMs !== null && hintMs <= nowMs) return { hintedMs: hints.take(nowMs) };
    if (dueMs <= nowMs) return 'due';
    const wakeMs = Math.min(dueMs, hintMs ?? dueMs);
    timer.set(wakeMs, summary);
    await condition(
      () => timer.hasFired || cancellation.requested || until?.() === true || (hintMs === null && hints.pending),
    );
  }
}

/** @returns how the timer and the read of this wait are shown in the UI */
function showWaiting(
  poller: Poller,
  { what, tries: planned }: PollOptions,
  { made }: PollState,
  dueMs: number,
): (of: ReadName) => string {
  const { lastStatus, lastReadAt, parking } = poller;
  const tries = Math.max(planned, 1);
  const shown = { kind: what, try: Math.min(made + 1, tries), tries, lastStatus };
  const parked = parking.current === null ? {} : { parked: parking.current.shown };
  poller.setWaiting({ ...shown, lastReadAt, nextReadAt: new Date(dueMs).toISOString(), ...parked });
  return (of) => readSummary(shown, of);
}
