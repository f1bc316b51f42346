/**
 * The poll loop of every operation. A read comes from the loop itself, after a durable timer that a hint can cut short, and
 * costs eleven history events. Or it comes from the pool of a worker, which makes many reads for that. `rules/poll-state.ts`
 * keeps the schedule and counts tries and failures; the caller decides what a reading means.
 */
import { condition, workflowInfo } from '@temporalio/workflow';
import { ActivityFailure, TimeoutFailure } from '@temporalio/common';
import type { ReadFailure, ReadResult } from '../../contract/activities.ts';
import { conclude, type Conclusion } from '../conclusion.ts';
import { metrics } from '../metrics.ts';
import {
  resumeAfterOutage,
  afterRead,
  answers,
  beginPolling,
  nextRead,
  assumeMade,
  beginPooled,
} from '../../rules/poll-state.ts';
import { answeredMs } from '../../rules/trigger-policy.ts';
import { isNotDeployed } from '../../rules/never-deployed.ts';
import { heldBackUntilMs, type GivenUp } from '../../rules/read-failures.ts';
import { describeLastStatus, type Poller } from './poller.ts';
import { serviceState } from '../../rules/outage.ts';
import { loopTurn, type NoTurn, type Turn, type TurnOptions, showWaiting, unlessCancelled } from './turn.ts';
import type { PollState, PooledProgress, PooledWaitEnd } from '../../contract/polling.ts';
import { TIMING } from '../../contract/timing.ts';
import { pollInPool } from '../activity-proxies.ts';
import { withMeaning } from '../../rules/status-words.ts';

export interface PollOptions extends TurnOptions {
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
  let last: ReadResult | null = null;
  const take: OnReading<V> = (read, own) => {
    if (read.ok) poller.recordStatus(read);
    else if (heldBackUntilMs(read, Date.now()) === null) poller.recordFailure(failureOf(poller, options, read));
    return onReading(read, own);
  };
  for (;;) {
    const parked = parking.current;
    const turn: Turn | NoTurn | Hinted<V> = mayPool(poller, options, state, last)
      ? await poolTurn(poller, options, state, last, (it) => take(it, false))
      : await loopTurn(poller, options, state);
    if ('kind' in turn) return turn.kind === 'hinted' ? decided(options, turn.value, turn.hintedMs) : turn;
    const { read, isTry, hintedMs }: Turn = turn;
    ({ state } = turn);

    const nowMs = Date.now();
    poller.lagMs = nowMs - answeredMs(read, nowMs);
    if (parked !== null && serviceState(read) === 'answers') {
      state = resumeAfterOutage(state, nowMs, parking.leave(nowMs));
      options.afterOutage?.();
    }
    const value = take(read, hintedMs === null);
    if (value !== undefined) return decided(options, value, hintedMs);
    const after = afterRead(options, state, read, { nowMs, isTry });
    state = after.state;
    if (after.end === 'exhausted') return { kind: 'exhausted' };
    const reason = read.ok ? null : parkOrEnd(poller, options, read, after.end, state.notBeforeMs);
    if (reason !== null) return { kind: 'given_up', reason };
    last = read;
  }
}

/** @returns why a read without a status counts as failed; null if it says that there is nothing to read yet */
function failureOf({ lastStatus }: Poller, options: PollOptions, read: ReadFailure): string | null {
  const isFirstDeployment = options.what !== 'backup' && lastStatus === null && isNotDeployed(read);
  return isFirstDeployment || answers(options, read) ? null : read.message;
}

/** @param hintedMs when the hint arrived that the deciding read followed; null if it followed none */
function decided<V>({ what }: PollOptions, value: V, hintedMs: number | null): PollResult<V> {
  // What another deployment did is not a verdict.
  const isVerdict = what === 'backup' || what === 'deployment';
  if (hintedMs !== null && isVerdict) metrics.hintDecided({ operation: what, afterMs: Date.now() - hintedMs });
  return { kind: 'decided', value };
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

/*
 * Leaves the wait for an operation in progress to the pool of a worker. The pool keeps every read that decides nothing, and
 * the first other one comes back as the next read of the loop. Meanwhile, the workflow itself reads for hints.
 */

/** Whether only time or a status that is not in progress can end the wait: then the reads can be left to the pool. */
function mayPool(
  { waits, parking }: Poller,
  { what }: TurnOptions,
  { wholeEndsMs }: PollState,
  last: ReadResult | null,
): boolean {
  if (waits !== 'pooled' || (what !== 'backup' && what !== 'deployment')) return false;
  const isInProgress = last?.ok === true && last.state === 'in_progress';
  return isInProgress && parking.current === null && Date.now() < wholeEndsMs;
}

interface Hinted<V> {
  kind: 'hinted';
  value: V;
  hintedMs: number;
}

/**
 * @param last the read before
 * @param onHinted decides, as far as it can, what a read for a hint means
 */
async function poolTurn<V>(
  poller: Poller,
  options: TurnOptions,
  state: PollState,
  last: ReadResult | null,
  onHinted: (read: ReadResult) => V | undefined,
): Promise<Turn | NoTurn | Hinted<V>> {
  const { intervalMs } = state.schedule;
  const summary = showWaiting(poller, options, state, nextRead(state).atMs, { everyMs: intervalMs });
  const pooled = startPooledWait(
    options,
    beginPooled(state, poller.lastStatus, last?.ok === true ? last.ids : undefined),
    summary('pooled'),
  );
  let againMs: number | null = null;
  for (;;) {
    const woken = await untilWoken(poller, pooled, againMs, summary('hinted'));
    if (woken === 'over') break;
    const read = woken === 'cancelled' ? null : await unlessCancelled(poller, options.reader.read(summary('hinted')));
    const value = read === null ? undefined : onHinted(read);
    if (read === null || value !== undefined) poller.countPolls(pooled.assumedPolls());
    if (read === null || woken === 'cancelled') return { kind: 'cancelled' };
    if (value !== undefined) return { kind: 'hinted', value, hintedMs: woken.hintedMs };
    // A claim counts only with a read after it, and the reads of the pool are not seen here.
    againMs = read.ok ? null : Date.now() + Math.max(intervalMs, TIMING.poll.hintGapMs);
  }
  const { progress, end } = pooled.result();
  poller.recordPooled(progress);
  if (end === null) return loopTurn(poller, options, progress.state);
  const read = withMeaning(options.reader.reads.words, end.read);
  return { read, state: progress.state, isTry: end.isTry, hintedMs: null };
}

interface PooledWait {
  readonly isOver: boolean;
  /** Without an end, no worker took the wait in time. */
  result(): { progress: PooledProgress; end: PooledWaitEnd | null };
  /** Of a wait that ends without its read: as many as were due. */
  assumedPolls(): number;
}

function startPooledWait({ reader, tries }: TurnOptions, first: PooledProgress, summary: string): PooledWait {
  let progress = first;
  let end: PooledWaitEnd | null = null;
  let isOver = false;
  const withinMs = first.state.wholeEndsMs - Date.now() + TIMING.pool.spareMs;
  void pollInPool(workflowInfo().taskQueue, withinMs, summary, { ...reader.reads, tries, progress })
    .then((it) => {
      end = it;
      progress = it.progress;
    })
    .catch((error: unknown) => {
      progress = lastProgress(error) ?? progress;
    })
    .finally(() => (isOver = true));
  return {
    get isOver() {
      return isOver;
    },
    result: () => ({ progress, end }),
    assumedPolls: () =>
      isOver ? progress.polls + (end?.read.ok ? 1 : 0) : assumeMade(progress, tries, Date.now()).polls,
  };
}

function lastProgress(error: unknown): PooledProgress | null {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof TimeoutFailure ? ((cause.lastHeartbeatDetails as PooledProgress | undefined) ?? null) : null;
}

/** @param againMs when to read again without another hint; null for not at all */
async function untilWoken(
  { hints, cancellation, timer }: Poller,
  pooled: PooledWait,
  againMs: number | null,
  summary: string,
): Promise<'over' | 'cancelled' | { hintedMs: number }> {
  for (;;) {
    if (cancellation.requested) return 'cancelled';
    if (pooled.isOver) return 'over';
    const nowMs = Date.now();
    const hintMs = hints.readableAtMs(nowMs);
    const wakeMs = Math.min(hintMs ?? Infinity, againMs ?? Infinity);
    if (wakeMs <= nowMs) return { hintedMs: hints.take(nowMs) };
    if (wakeMs < Infinity) timer.set(wakeMs, summary);
    else timer.cancel();
    await condition(
      () => pooled.isOver || cancellation.requested || timer.hasFired || (hintMs === null && hints.pending),
    );
  }
}
