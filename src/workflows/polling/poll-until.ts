/**
 * The poll loop of every operation. A read comes from the loop itself, after a durable timer that a hint can cut short, and
 * costs eleven history events. Or it comes from the pool of a worker, which makes many reads for that. `rules/poll-state.ts`
 * keeps the schedule and counts tries and failures; the caller decides what a reading means.
 */
import { condition } from '@temporalio/workflow';
import type { ReadFailure, ReadResult } from '../../contract/activities.ts';
import { conclude, type Conclusion } from '../conclusion.ts';
import { metrics } from '../metrics.ts';
import { resumeAfterOutage, afterRead, answers, beginPolling } from '../../rules/poll-state.ts';
import { answeredMs } from '../../rules/trigger-policy.ts';
import { isNotDeployed } from '../../rules/never-deployed.ts';
import { heldBackUntilMs, type GivenUp } from '../../rules/read-failures.ts';
import { describeLastStatus, type Poller } from './poller.ts';
import { serviceState } from '../../rules/outage.ts';
import { type Hinted, loopTurn, mayPool, type NoTurn, poolTurn, type Turn, type TurnOptions } from './turn.ts';

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
    record(poller, options, read);
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

function record(poller: Poller, options: PollOptions, read: ReadResult): void {
  const { result } = poller;
  const readAt = new Date().toISOString();
  if (read.ok) {
    Object.assign(poller, { failing: null, lastReadAt: readAt });
    result.polls += 1;
    result.lastStatus = read.status;
    // What is in progress before the request is not ours.
    if (read.state === 'in_progress' && options.what !== 'baseline') result.inProgressAt = readAt;
  } else if (heldBackUntilMs(read, Date.now()) === null) {
    const isFirstDeployment = options.what !== 'backup' && result.lastStatus === null && isNotDeployed(read);
    const isNothingYet = isFirstDeployment || answers(options, read);
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
