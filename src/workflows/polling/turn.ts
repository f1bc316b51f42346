/**
 * How the next read of a poll loop comes about: the loop makes it itself, or the pool of a worker makes it, which makes many
 * reads for the same events.
 */
import { ActivityFailure, TimeoutFailure } from '@temporalio/common';
import { condition, workflowInfo } from '@temporalio/workflow';
import type { ReadResult } from '../../contract/activities.ts';
import type { PollState, PooledProgress, PooledWaitEnd } from '../../contract/polling.ts';
import { TIMING } from '../../contract/timing.ts';
import type { WaitingForRead } from '../../contract/waiting.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { readSummary, type ReadName } from '../../contract/read-summary.ts';
import { assumeMade, beginPooled, nextRead, type PollPlan } from '../../rules/poll-state.ts';
import { withMeaning } from '../../rules/status-words.ts';
import { pollInPool } from '../activity-proxies.ts';
import type { Reader } from './status-reader.ts';
import type { Poller } from './poller.ts';

export interface TurnOptions extends PollPlan {
  what: WaitingForRead['kind'];
  reader: Reader;
  /** Stops the loop once it returns true. */
  until?: () => boolean;
}

export interface Turn {
  read: ReadResult;
  state: PollState;
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
  const woken = await untilWoken(poller, due.atMs, () => options.until?.() === true, summary(name));
  if (woken === 'cancelled') return { kind: 'cancelled' };
  if (woken === 'over') return { kind: 'stopped' };
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

type Woken = 'due' | 'over' | 'cancelled' | { hintedMs: number };

/** @param dueMs infinite if only a hint or the end ends the wait */
async function untilWoken(poller: Poller, dueMs: number, isOver: () => boolean, summary: string): Promise<Woken> {
  const { timer, cancellation, hints } = poller;
  for (;;) {
    if (cancellation.requested) return 'cancelled';
    if (isOver()) return 'over';
    const nowMs = Date.now();
    const hintMs = hints.readableAtMs(nowMs);
    if (hintMs !== null && hintMs <= nowMs) return { hintedMs: hints.take(nowMs) };
    if (dueMs <= nowMs) return 'due';
    const wakeMs = Math.min(dueMs, hintMs ?? dueMs);
    if (wakeMs < Infinity) timer.set(wakeMs, summary);
    else timer.cancel();
    await condition(() => timer.hasFired || cancellation.requested || isOver() || (hintMs === null && hints.pending));
  }
}

/** @returns how the timer and the read of this wait are shown in the UI */
function showWaiting(
  poller: Poller,
  { what, tries: planned }: TurnOptions,
  { made }: PollState,
  dueMs: number,
  pooled?: WaitingForRead['pooled'],
): (of: ReadName) => string {
  const { result, lastReadAt, parking, failing } = poller;
  const tries = Math.max(planned, 1);
  const shown = { kind: what, try: Math.min(made + 1, tries), tries, lastStatus: result.lastStatus };
  const parked = parking.current?.shown;
  poller.setWaiting({
    ...shown,
    lastReadAt,
    nextReadAt: new Date(dueMs).toISOString(),
    ...definedFields({ parked, failing: parked === undefined ? (failing ?? undefined) : undefined, pooled }),
  });
  return (of) => readSummary(shown, of);
}

/*
 * Leaves the wait for an operation in progress to the pool of a worker. The pool keeps every read that decides nothing, and
 * the first other one comes back as the next read of the loop. Meanwhile, the workflow itself reads for hints.
 */

/** Whether only time or a status that is not in progress can end the wait: then the reads can be left to the pool. */
export function mayPool(
  { waits, parking }: Poller,
  { what }: TurnOptions,
  { wholeEndsMs }: PollState,
  last: ReadResult | null,
): boolean {
  if (waits !== 'pooled' || (what !== 'backup' && what !== 'deployment')) return false;
  const isInProgress = last?.ok === true && last.state === 'in_progress';
  return isInProgress && parking.current === null && Date.now() < wholeEndsMs;
}

export interface Hinted<V> {
  kind: 'hinted';
  value: V;
  hintedMs: number;
}

/**
 * @param last the read before
 * @param onHinted decides, as far as it can, what a read for a hint means
 */
export async function poolTurn<V>(
  poller: Poller,
  options: TurnOptions,
  state: PollState,
  last: ReadResult | null,
  onHinted: (read: ReadResult) => V | undefined,
): Promise<Turn | NoTurn | Hinted<V>> {
  const { reader, tries } = options;
  const { hints, result } = poller;
  const { intervalMs } = state.schedule;
  const summary = showWaiting(poller, options, state, nextRead(state).atMs, { everyMs: intervalMs });
  const ids = last?.ok === true ? last.ids : undefined;
  const pooled = startPooledWait(options, beginPooled(state, result.lastStatus, ids), summary('pooled'));
  for (let againMs = Infinity; ;) {
    const woken = await untilWoken(poller, againMs, () => pooled.isOver, summary('hinted'));
    if (woken === 'over') break;
    const hintedMs = woken === 'due' ? hints.take(Date.now()) : woken === 'cancelled' ? null : woken.hintedMs;
    const read = hintedMs === null ? null : await unlessCancelled(poller, reader.read(summary('hinted')));
    const value = read === null ? undefined : onHinted(read);
    if (read === null || value !== undefined) result.polls += assumedPolls(pooled, tries);
    if (read === null || hintedMs === null) return { kind: 'cancelled' };
    if (value !== undefined) return { kind: 'hinted', value, hintedMs };
    // A claim counts only with a read after it, and the reads of the pool are not seen here.
    againMs = read.ok ? Infinity : Date.now() + Math.max(intervalMs, TIMING.poll.hintGapMs);
  }
  const { progress, end } = pooled;
  const { lastReadAt } = progress;
  result.polls += progress.polls;
  result.lastStatus = progress.lastStatus ?? result.lastStatus;
  result.inProgressAt = lastReadAt ?? result.inProgressAt;
  Object.assign(poller, { failing: null, lastReadAt: lastReadAt ?? poller.lastReadAt });
  if (end === null) return loopTurn(poller, options, progress.state);
  const read = withMeaning(reader.reads.words, end.read);
  return { read, state: progress.state, isTry: end.isTry, hintedMs: null };
}

interface PooledWait {
  isOver: boolean;
  progress: PooledProgress;
  /** Null if no worker took the wait in time. */
  end: PooledWaitEnd | null;
}

function startPooledWait({ reader, tries }: TurnOptions, progress: PooledProgress, summary: string): PooledWait {
  const wait: PooledWait = { isOver: false, progress, end: null };
  const withinMs = progress.state.wholeEndsMs - Date.now() + TIMING.pool.spareMs;
  void pollInPool(workflowInfo().taskQueue, withinMs, summary, { ...reader.reads, tries, progress })
    .then((end) => Object.assign(wait, { end, progress: end.progress }))
    .catch((error: unknown) => (wait.progress = lastProgress(error) ?? wait.progress))
    .finally(() => (wait.isOver = true));
  return wait;
}

/** Of a wait that ends without its read: as many as were due. */
const assumedPolls = ({ isOver, progress, end }: PooledWait, tries: number): number =>
  isOver ? progress.polls + (end?.read.ok ? 1 : 0) : assumeMade(progress, tries, Date.now()).polls;

function lastProgress(error: unknown): PooledProgress | null {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof TimeoutFailure ? ((cause.lastHeartbeatDetails as PooledProgress | undefined) ?? null) : null;
}
