/**
 * The wait of every operation: a durable timer that a hint can cut short, then one read. Six history events a read.
 * What the reads mean is the caller's; this module keeps the beat and counts tries and failures.
 */
import { condition } from '@temporalio/workflow';
import type { ReadResult, Waiting } from '../../contract/run.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { ended, type End } from '../common/conclusion.ts';
import type { Reader } from './status-reader.ts';
import { afterRead, alsoAt, nextRead, type Beat } from '../rules/poll-schedule.ts';
import {
  afterFailedRead,
  givenUp,
  isUnauthorized,
  NO_FAILED_READS,
  wholeTimeEndsMs,
  type GivenUp,
} from '../rules/read-failures.ts';
import { lastRead, type Watcher } from './poller.ts';

/** A token that is being swapped is looked for this often, however long the interval. */
const UNAUTHORIZED_PAUSE_MS = 15_000;

export interface WaitPlan {
  what: Extract<Waiting, { try: number }>['for'];
  read: Reader;
  beat: Beat;
  tries: number;
  /** A 404 is an answer too: there is no deployment yet. */
  notFoundAnswers?: boolean;
  /** Ends the wait from outside. */
  until?: () => boolean;
}

export type WaitEnd<V> =
  | { end: 'judged'; value: V }
  | { end: 'exhausted' }
  | { end: 'given_up'; reason: GivenUp }
  | { end: 'stopped' }
  | { end: 'cancelled' };

/** @param own false for a read that followed a hint */
export type Judge<V> = (read: ReadResult, own: boolean) => V | undefined;

/** Reads until the judge gives a value. The last try decides: nothing sleeps after it. */
export async function wait<V>(watcher: Watcher, plan: WaitPlan, judge: Judge<V>): Promise<WaitEnd<V>> {
  const wholeEndsMs = wholeTimeEndsMs(plan.beat.originMs, plan.beat.intervalMs, plan.tries);
  let beat = plan.beat;
  let made = 0;
  let failed = NO_FAILED_READS;
  let notBeforeMs = 0;
  for (;;) {
    const due = nextRead(beat, notBeforeMs);
    const tries = Math.max(plan.tries, 1);
    const attempt = Math.min(made + 1, tries);
    const summary = (name: string) => summaryOf(PREFIX[plan.what] + name, watcher.lastStatus);
    const name = due.isTry ? `read ${attempt} of ${tries}` : 'early read';
    show(watcher, plan.what, { attempt, tries, dueMs: due.atMs });
    const woken = await rest(watcher, plan, due.atMs, summary(name));
    if (woken === 'cancelled' || woken === 'stopped') return { end: woken };
    const isTry = woken === 'due' && due.isTry;

    const read = await unlessCancelled(watcher, plan.read(summary(woken === 'hint' ? 'hinted read' : name)));
    if (read === null) return { end: 'cancelled' };
    if (read.ok) watcher.noteStatus(read);
    const value = judge(read, woken === 'due');
    if (value !== undefined) return { end: 'judged', value };

    const nowMs = Date.now();
    beat = afterRead(beat, nowMs, isTry);
    if (read.ok || (plan.notFoundAnswers === true && read.httpStatus === 404)) {
      made += isTry ? 1 : 0;
      failed = NO_FAILED_READS;
      notBeforeMs = 0;
      if (made >= plan.tries) return { end: 'exhausted' };
    } else {
      notBeforeMs = nowMs + (read.retryAfterMs ?? 0);
      if (isTry || isUnauthorized(read)) failed = afterFailedRead(failed, read, nowMs);
      if (isUnauthorized(read) && beat.intervalMs > UNAUTHORIZED_PAUSE_MS) {
        beat = alsoAt(beat, nowMs + UNAUTHORIZED_PAUSE_MS);
      }
      const nextAtMs = nextRead(beat, notBeforeMs).atMs;
      const reason = givenUp(failed, read, { nowMs, nextAtMs, wholeEndsMs });
      if (reason !== null) return { end: 'given_up', reason };
    }
  }
}

/** The end of an operation that has begun at the service, and whose own end was not seen. */
export function cutShort(watcher: Watcher, name: string, end: WaitEnd<never> & { end: 'given_up' | 'cancelled' }): End {
  if (end.end === 'given_up') return ended('unknown', end.reason.type, `${name}: ${end.reason.message}`);
  const message = `cancelled; ${name} goes on at the service, last status ${lastRead(watcher)}`;
  return ended('cancelled', 'Cancelled', message);
}

/** Sleeps until then, unless cancelled. */
export async function sleepUntil(watcher: Watcher, atMs: number, summary: string): Promise<'slept' | 'cancelled'> {
  const ms = atMs - Date.now();
  if (ms > 0) await condition(() => watcher.cancellation.requested, ms, { summary });
  return watcher.cancellation.requested ? 'cancelled' : 'slept';
}

/** A read may hang for long. @returns null once cancelled */
async function unlessCancelled(watcher: Watcher, reading: Promise<ReadResult>): Promise<ReadResult | null> {
  return Promise.race([reading, watcher.cancellation.whenRequested.then(() => null)]);
}

async function rest(
  watcher: Watcher,
  { until }: WaitPlan,
  dueMs: number,
  summary: string,
): Promise<'due' | 'hint' | 'stopped' | 'cancelled'> {
  const { cancellation, hints } = watcher;
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
    const woken = () => cancellation.requested || until?.() === true || (hintMs === null && hints.pending);
    await condition(woken, wakeMs - nowMs, { summary });
  }
}

const PREFIX: Record<WaitPlan['what'], string> = {
  backup: '',
  deployment: '',
  baseline: 'baseline: ',
  trace: 'trace: ',
};

/** Temporal refuses a summary over 400 bytes, and the status is the service's. */
function summaryOf(name: string, lastStatus: string | null): string {
  return lastStatus === null ? name : `${name}, last: ${plainText(lastStatus, 40)}`;
}

function show(
  watcher: Watcher,
  what: WaitPlan['what'],
  { attempt, tries, dueMs }: { attempt: number; tries: number; dueMs: number },
): void {
  const { lastStatus, lastReadAt } = watcher;
  watcher.show({ for: what, try: attempt, tries, lastStatus, lastReadAt, nextReadAt: new Date(dueMs).toISOString() });
}
