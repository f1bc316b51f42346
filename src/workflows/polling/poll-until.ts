/**
 * The poll loop of every operation. A read comes from the loop itself, after a durable timer that a hint can cut short, and
 * costs eleven history events. Or it comes from the pool of a worker, where many reads cost no more than that.
 * `rules/poll-state.ts` keeps the schedule and counts tries and failures; the caller decides what a reading means.
 */
import { ActivityFailure, TimeoutFailure } from '@temporalio/common';
import { condition, workflowInfo } from '@temporalio/workflow';
import type { ReadResult } from '../../contract/activities.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { PollState, PooledProgress, PooledWaitEnd } from '../../contract/polling.ts';
import { readSummary, type ReadName } from '../../contract/read-summary.ts';
import type { Waits } from '../../contract/run.ts';
import { TIMING } from '../../contract/timing.ts';
import type { WaitingForRead } from '../../contract/waiting.ts';
import { isNotDeployed } from '../../rules/never-deployed.ts';
import { serviceState } from '../../rules/outage.ts';
import {
  afterRead,
  answeredMs,
  isAnswer,
  assumeAllAnswered,
  beginPolling,
  beginPooled,
  nextRead,
  resumeAfterOutage,
  type PollPlan,
} from '../../rules/poll-state.ts';
import { heldBackUntilMs, type GivenUp } from '../../rules/read-failures.ts';
import { withMeaning } from '../../rules/status-words.ts';
import { pollInPool } from '../activity-proxies.ts';
import { conclude, type Conclusion } from '../conclusion.ts';
import { hasRoom } from '../history.ts';
import { metrics } from '../metrics.ts';
import { describeLastStatus, type Poller } from './poller.ts';
import type { Reader } from './status-reader.ts';

export interface PollOptions extends PollPlan {
  what: WaitingForRead['kind'];
  reader: Reader;
  /** Default: `loop`. */
  waits?: Waits;
  /** Stops the loop once it returns true. */
  until?: () => boolean;
  /** False: failed reads end the loop, whatever the outage budget. */
  parks?: false;
  /** Called before the first reading after an outage. */
  afterOutage?: () => void;
}

export type PollResult<V> =
  | { kind: 'decided'; value: V }
  | { kind: 'exhausted' }
  | { kind: 'given_up'; reason: GivenUp }
  | { kind: 'stopped' }
  | { kind: 'cancelled' };

/**
 * How a read came about: it was due; or it followed a hint; or it followed a hint `beside` a pooled wait, whose later reads
 * are not seen, so it has to decide or be forgotten.
 */
export type Cause = 'due' | 'hinted' | 'beside';

export type OnReading<V> = (read: ReadResult, cause: Cause) => V | undefined;

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
  let last = null as ReadResult | null;
  const take: OnReading<V> = (read, cause) => {
    record(poller, options, read);
    return onReading(read, cause);
  };
  for (;;) {
    const parked = parking.current;
    // Only time or another status can end a wait in progress, so its reads can be left to the pool.
    const isInProgress = last?.ok === true && last.state === 'in_progress';
    const mayPool: boolean =
      options.waits === 'pooled' && isInProgress && parked === null && Date.now() < state.wholeEndsMs;
    const turn: Turn | PollResult<V> = mayPool
      ? await poolTurn(poller, options, state, last, (it) => take(it, 'beside'))
      : await loopTurn(poller, options, state);
    if ('kind' in turn) return turn;
    const { read, isTry, hintedMs }: Turn = turn;
    ({ state } = turn);

    const nowMs = Date.now();
    poller.lagMs = nowMs - answeredMs(read, nowMs);
    if (parked !== null && serviceState(read) === 'answers') {
      state = resumeAfterOutage(state, nowMs, parking.leave(nowMs));
      options.afterOutage?.();
    }
    const value = take(read, hintedMs === null ? 'due' : 'hinted');
    if (value !== undefined) return decided(options, value, hintedMs);
    const waitsForTurn = heldBackUntilMs(read, nowMs) !== null && !hasRoom();
    const after = afterRead(options, state, read, { nowMs, isTry, waitsForTurn });
    state = after.state;
    if (after.end === 'exhausted') return { kind: 'exhausted' };
    last = read;
    const reason = after.end ?? parking.current?.reason ?? null;
    if (read.ok || reason === null) continue;
    const parks = options.parks !== false && (parking.current !== null || serviceState(read) === 'down');
    const refused = parks ? parking.park(reason, nowMs, state.notBeforeMs) : reason;
    if (refused !== null) return { kind: 'given_up', reason: refused };
  }
}

function record(poller: Poller, options: PollOptions, read: ReadResult): void {
  const { result } = poller;
  const readAt = new Date().toISOString();
  if (read.ok) {
    const isUnproven = options.what === 'deployment' && read.state !== 'in_progress';
    Object.assign(poller, { failing: null, lastReadAt: readAt, isUnproven });
    result.polls += 1;
    result.lastStatus = read.status;
    // What is in progress before the request is not ours.
    if (read.state === 'in_progress' && options.what !== 'baseline') result.inProgressAt = readAt;
  } else if (heldBackUntilMs(read, Date.now()) === null) {
    const isFirstDeployment = options.what !== 'backup' && result.lastStatus === null && isNotDeployed(read);
    const isNothingYet = isFirstDeployment || isAnswer(options, read);
    poller.failing = isNothingYet ? null : { reads: (poller.failing?.reads ?? 0) + 1, reason: read.message };
  }
}

/** @param hintedMs when the hint arrived that the deciding read followed; null if it followed none */
function decided<V>({ what }: PollOptions, value: V, hintedMs: number | null): PollResult<V> {
  // What another deployment did is not a verdict.
  const isVerdict = what === 'backup' || what === 'deployment';
  if (hintedMs !== null && isVerdict) metrics.hintDecided({ operation: what, afterMs: Date.now() - hintedMs });
  return { kind: 'decided', value };
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

export async function sleepUntil(
  poller: Pick<Poller, 'timer' | 'cancellation'>,
  atMs: number,
  summary: string,
): Promise<'slept' | 'cancelled'> {
  const ms = atMs - Date.now();
  poller.timer.cancel();
  if (ms > 0) await condition(() => poller.cancellation.requested, ms, { summary });
  return poller.cancellation.requested ? 'cancelled' : 'slept';
}

/** A read may hang, so cancellation does not wait for it. @returns null once cancelled */
export async function unlessCancelled<T>(
  { cancellation }: Pick<Poller, 'cancellation'>,
  reading: Promise<T>,
): Promise<T | null> {
  return Promise.race([reading, cancellation.whenRequested.then(() => null)]);
}

/* How the next read comes about: the loop makes it itself, or the pool of a worker does. */

interface Turn {
  read: ReadResult;
  state: PollState;
  isTry: boolean;
  /** When the hint arrived that it follows; null if it follows none. */
  hintedMs: number | null;
}

/** The workflow sleeps until a read is due or a hint arrives, and reads. */
async function loopTurn(poller: Poller, options: PollOptions, state: PollState): Promise<Turn | PollResult<never>> {
  const readyMs = Date.now();
  const parked = poller.parking.current;
  const due = parked === null ? nextRead(state) : { atMs: parked.readAtMs, isTry: false };
  const name = nameOf(poller, due.isTry);
  const summary = showWaiting(poller, options, state, due.atMs);
  const woken = await untilWoken(poller, due.atMs, () => options.until?.() === true, summary(name));
  if ('kind' in woken) return woken;
  const { hintedMs } = woken;
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

/** Waits until a read is due, or a hint asks for one. @param dueMs infinite if only a hint or the end ends the wait */
async function untilWoken(
  poller: Poller,
  dueMs: number,
  isOver: () => boolean,
  summary: string,
): Promise<Pick<Turn, 'hintedMs'> | { kind: 'stopped' | 'cancelled' }> {
  const { timer, cancellation, hints } = poller;
  for (;;) {
    if (cancellation.requested) return { kind: 'cancelled' };
    if (isOver()) return { kind: 'stopped' };
    const nowMs = Date.now();
    const hintMs = hints.readableAtMs(nowMs);
    if (hintMs !== null && hintMs <= nowMs) return { hintedMs: hints.take(nowMs) };
    if (dueMs <= nowMs) return { hintedMs: null };
    const wakeMs = Math.min(dueMs, hintMs ?? dueMs);
    if (wakeMs < Infinity) timer.set(wakeMs, summary);
    else timer.cancel();
    await condition(() => timer.hasFired || cancellation.requested || isOver() || (hintMs === null && hints.pending));
  }
}

/** @returns how the timer and the read of this wait are shown in the UI */
function showWaiting(
  poller: Poller,
  { what, tries: planned }: PollOptions,
  { made }: PollState,
  dueMs: number,
  pooled?: WaitingForRead['pooled'],
): (of: ReadName) => string {
  const { result, lastReadAt, parking, failing, isUnproven } = poller;
  const tries = Math.max(planned, 1);
  const shown = { kind: what, try: Math.min(made + 1, tries), tries, lastStatus: result.lastStatus };
  const parked = parking.current?.shown;
  poller.setWaiting({
    ...shown,
    lastReadAt,
    nextReadAt: new Date(dueMs).toISOString(),
    ...(isUnproven ? { unproven: true } : {}),
    ...definedFields({ parked, failing: parked === undefined ? (failing ?? undefined) : undefined, pooled }),
  });
  return (of) => readSummary(shown, of);
}

/*
 * Leaves the wait for an operation in progress to the pool of a worker. The pool keeps every read that decides nothing, and
 * the first other one comes back as the next read of the loop. Meanwhile, the workflow itself reads for hints.
 */

/**
 * @param last the read before
 * @param onHinted decides, as far as it can, what a read for a hint means
 */
async function poolTurn<V>(
  poller: Poller,
  options: PollOptions,
  state: PollState,
  last: ReadResult | null,
  onHinted: (read: ReadResult) => V | undefined,
): Promise<Turn | PollResult<V>> {
  const { reader, tries } = options;
  const { hints, result } = poller;
  const { intervalMs } = state.schedule;
  const summary = showWaiting(poller, options, state, nextRead(state).atMs, { everyMs: intervalMs });
  const ids = last?.ok === true ? last.ids : undefined;
  const pooled = startPooledWait(options, beginPooled(state, result.lastStatus, ids), summary('pooled'));
  for (let againMs = Infinity; ;) {
    const woken = await untilWoken(poller, againMs, () => pooled.isOver, summary('hinted'));
    if ('kind' in woken && woken.kind === 'stopped') break;
    const hintedMs = 'kind' in woken ? null : (woken.hintedMs ?? hints.take(Date.now()));
    const read = hintedMs === null ? null : await unlessCancelled(poller, reader.read(summary('hinted')));
    const value = read === null ? undefined : onHinted(read);
    if (read === null || value !== undefined) result.polls += assumedPolls(pooled, tries);
    if (read === null) return { kind: 'cancelled' };
    if (value !== undefined) return decided(options, value, hintedMs);
    // A claim counts only with a read after it, and the reads of the pool are not seen here.
    againMs = read.ok ? Infinity : Date.now() + Math.max(intervalMs, TIMING.poll.hintGapMs);
  }
  const { progress, end } = pooled;
  const { lastReadAt } = progress;
  result.polls += progress.polls;
  poller.failing = null;
  // A read for a hint may have been later.
  if (lastReadAt !== null && lastReadAt > (poller.lastReadAt ?? '')) {
    result.lastStatus = progress.lastStatus;
    result.inProgressAt = lastReadAt;
    Object.assign(poller, { lastReadAt, isUnproven: false });
  }
  if (end === null) return loopTurn(poller, options, progress.state);
  const read = withMeaning(reader.reads.words, end.read);
  return { read, state: progress.state, isTry: end.isTry, hintedMs: null };
}

/** A wait that was left to the pool, as far as its workflow knows. */
interface PendingPooledWait {
  isOver: boolean;
  progress: PooledProgress;
  /** Null if no worker took the wait in time. */
  end: PooledWaitEnd | null;
}

function startPooledWait({ reader, tries }: PollOptions, progress: PooledProgress, summary: string): PendingPooledWait {
  const wait: PendingPooledWait = { isOver: false, progress, end: null };
  const { schedule, made, wholeEndsMs } = progress.state;
  // Failed reads are repeated for the whole time. If all of them fail, the tries follow.
  const withinMs = wholeEndsMs + (tries - made) * schedule.intervalMs - Date.now() + TIMING.pool.spareMs;
  void pollInPool(workflowInfo().taskQueue, withinMs, summary, { ...reader.reads, tries, progress })
    .then((end) => Object.assign(wait, { end, progress: end.progress }))
    .catch((error: unknown) => (wait.progress = lastProgress(error) ?? wait.progress))
    .finally(() => (wait.isOver = true));
  return wait;
}

/** How many reads the pool made. If the workflow leaves before the wait ends, it assumes all reads that were due. */
const assumedPolls = ({ isOver, progress, end }: PendingPooledWait, tries: number): number =>
  isOver ? progress.polls + (end?.read.ok ? 1 : 0) : assumeAllAnswered(progress, tries, Date.now()).polls;

function lastProgress(error: unknown): PooledProgress | null {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof TimeoutFailure ? ((cause.lastHeartbeatDetails as PooledProgress | undefined) ?? null) : null;
}
