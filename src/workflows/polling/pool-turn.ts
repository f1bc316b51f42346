/**
 * Leaves the wait for an operation in progress to the pool of a worker. The pool keeps every read that decides nothing, and
 * the first other one comes back as the next read of the loop. Meanwhile, the workflow itself reads for hints.
 */
import { ActivityFailure, TimeoutFailure } from '@temporalio/common';
import { condition, workflowInfo } from '@temporalio/workflow';
import type { ReadResult } from '../../contract/activities.ts';
import type { PollState } from '../../contract/polling.ts';
import type { PooledProgress, PooledWaitEnd } from '../../contract/pooled-wait.ts';
import { TIMING } from '../../contract/timing.ts';
import { pollInPool } from '../activity-proxies.ts';
import { nextRead } from '../../rules/poll-state.ts';
import { assumeMade, beginPooled } from '../../rules/pooled-wait.ts';
import { withMeaning } from '../../rules/status-words.ts';
import type { Poller } from './poller.ts';
import { loopTurn, showWaiting, unlessCancelled, type NoTurn, type Turn, type TurnOptions } from './turn.ts';

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
