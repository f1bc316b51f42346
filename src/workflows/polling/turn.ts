/** How the next read of a poll loop comes about. */
import { condition } from '@temporalio/workflow';
import type { ReadResult } from '../../contract/activities.ts';
import type { PollState } from '../../contract/polling.ts';
import type { WaitingForRead } from '../../contract/waiting.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { readSummary, type ReadName } from '../../contract/read-summary.ts';
import { nextRead, type PollPlan } from '../../rules/poll-state.ts';
import type { Reader } from './status-reader.ts';
import type { Poller } from './poller.ts';

export interface TurnOptions extends PollPlan {
  what: WaitingForRead['kind'];
  reader: Reader;
  /** Stops the loop once it returns true. */
  until?: () => boolean;
}

/** A read, and the state before it. */
export interface Turn {
  read: ReadResult;
  state: PollState;
  /** Whether it was due as a try. */
  isTry: boolean;
  /** When the hint arrived that it follows; null if it follows none. */
  hintedMs: number | null;
}

export type NoTurn = { kind: 'stopped' } | { kind: 'cancelled' };

/** The workflow sleeps until a read is due or a hint arrives, and reads. */
export async function loopTurn(poller: Poller, options: TurnOptions, state: PollState): Promise<Turn | NoTurn> {
  const readyMs = Date.now();
  const parked = poller.parking.current;
  const due = parked === null ? nextRead(state) : { atMs: parked.readAtMs, isTry: false };
  const name = nameOf(poller, due.isTry);
  const summary = showWaiting(poller, options, state, due.atMs);
  const woken = await sleepUntilDue(poller, options, due.atMs, summary(name));
  if (woken === 'cancelled' || woken === 'stopped') return { kind: woken };
  const hintedMs = typeof woken === 'object' ? woken.hintedMs : null;
  const isHinted = hintedMs !== null;
  // A read that became due during a slower one is not late.
  const dueMs = isHinted ? undefined : Math.max(due.atMs, readyMs);
  const reading = options.reader.read(summary(isHinted ? 'hinted' : name), dueMs);
  const read = await unlessCancelled(poller, reading);
  return read === null ? { kind: 'cancelled' } : { read, state, isTry: due.isTry && !isHinted, hintedMs };
}

function nameOf({ parking, failing }: Poller, isTry: boolean): ReadName {
  if (parking.current !== null) return 'parked';
  if (!isTry) return 'early';
  return failing === null ? 'try' : 'again';
}

/** A read may hang, so cancellation does not wait for it. @returns null once cancelled */
export async function unlessCancelled<T>(
  { cancellation }: Pick<Poller, 'cancellation'>,
  reading: Promise<T>,
): Promise<T | null> {
  return Promise.race([reading, cancellation.whenRequested.then(() => null)]);
}

/** A hint comes with the time when it arrived. */
type Woken = 'due' | 'stopped' | 'cancelled' | { hintedMs: number };

async function sleepUntilDue(poller: Poller, { until }: TurnOptions, dueMs: number, summary: string): Promise<Woken> {
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
export function showWaiting(
  poller: Poller,
  { what, tries: planned }: TurnOptions,
  { made }: PollState,
  dueMs: number,
  pooled?: WaitingForRead['pooled'],
): (of: ReadName) => string {
  const { lastStatus, lastReadAt, parking, failing } = poller;
  const tries = Math.max(planned, 1);
  const shown = { kind: what, try: Math.min(made + 1, tries), tries, lastStatus };
  const parked = parking.current?.shown;
  poller.setWaiting({
    ...shown,
    lastReadAt,
    nextReadAt: new Date(dueMs).toISOString(),
    ...definedFields({ parked, failing: parked === undefined ? (failing ?? undefined) : undefined, pooled }),
  });
  return (of) => readSummary(shown, of);
}
