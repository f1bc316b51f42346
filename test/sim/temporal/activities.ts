/** The server's side of activities: attempts, time-outs and retries. */
import type { Payload } from '@temporalio/common';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { Clock } from '../clock.ts';
import type { ActivityOptions, Commanded, Failure, Incoming, Outcome } from '../core/events.ts';
import type { Run } from './types.ts';
import { createUpTimer } from './up-timer.ts';

/** One attempt of an activity. */
export interface ActivityTask {
  run: Run;
  seq: number;
  type: string;
  input: Payload[];
  scheduledId: number;
  attempt: number;
  scheduledMs: number;
  startedMs: number | null;
  options: ActivityOptions;
  /** Of the last heartbeat that arrived. */
  details: Payload | null;
}

export interface ServerActivities {
  /** @param by the worker that is to make the first attempt, or null for any */
  schedule(
    run: Run,
    command: Extract<Commanded, { kind: 'activityScheduled' }> & { scheduledId: number },
    by: string | null,
  ): void;
  /** A worker takes it. @returns false if the task is gone */
  start(task: ActivityTask): boolean;
  /** Whether the server waits for the result of this attempt. */
  isAwaited(task: ActivityTask): boolean;
  /** As of a heartbeat. @returns null if the server does not wait for it */
  awaitedForMs(task: ActivityTask): number | null;
  /** @param details none keeps those of before. @returns false if the server does not wait for it */
  heartbeat(task: ActivityTask, details?: Payload): boolean;
  /** Ignored once the server does not wait for it. */
  close(task: ActivityTask, outcome: Outcome): void;
  /** The execution has closed. */
  drop(run: Run): void;
}

interface Pending {
  task: ActivityTask;
  firstScheduledMs: number;
  stopTimers: () => void;
}

interface Host {
  add(run: Run, event: Incoming): void;
  isUp(): boolean;
  offer(task: ActivityTask, by: string | null): void;
}

type TimeoutKind = 'scheduleToStart' | 'startToClose' | 'heartbeat' | 'scheduleToClose';
/** As in the API. */
const TIMEOUT_TYPES: Record<TimeoutKind, number> = {
  startToClose: 1,
  scheduleToStart: 2,
  scheduleToClose: 3,
  heartbeat: 4,
};

export function createActivities(clock: Clock, host: Host): ServerActivities {
  const pending = new Map<string, Pending>();
  const whenUp = createUpTimer(clock, () => host.isUp());
  const keyOf = ({ run, seq }: Pick<ActivityTask, 'run' | 'seq'>) => `${run.runId}/${seq}`;
  const current = (task: ActivityTask) => {
    const found = pending.get(keyOf(task));
    return found?.task === task ? found : undefined;
  };

  function offer(task: ActivityTask, firstScheduledMs: number, by: string | null = null): void {
    const entry: Pending = { task, firstScheduledMs, stopTimers: () => {} };
    pending.set(keyOf(task), entry);
    const { scheduleToStartMs, scheduleToCloseMs } = task.options;
    const leftMs = firstScheduledMs + scheduleToCloseMs - clock.nowMs;
    entry.stopTimers = timers(task, [
      ['scheduleToStart', scheduleToStartMs],
      ['scheduleToClose', leftMs],
    ]);
    host.offer(task, by);
  }

  function timers(task: ActivityTask, limits: [TimeoutKind, number][]): () => void {
    const stops = limits.filter(([, ms]) => ms !== Infinity).map(([kind, ms]) => whenUp(ms, () => timeOut(task, kind)));
    return () => stops.forEach((stop) => stop());
  }

  function timeOut(task: ActivityTask, kind: TimeoutKind): void {
    const entry = current(task);
    if (entry === undefined) return;
    const { details } = task;
    const timeoutFailureInfo = {
      timeoutType: TIMEOUT_TYPES[kind],
      ...(details === null ? {} : { lastHeartbeatDetails: { payloads: [details] } }),
    };
    const failure: Failure = { message: `activity ${kind} timeout`, source: 'Server', timeoutFailureInfo };
    const isFinal = kind === 'scheduleToStart' || kind === 'scheduleToClose';
    if (isFinal || !again(entry, failure)) finish(entry, { failure }, true);
  }

  /** @returns false if that was the last attempt */
  function again({ task, firstScheduledMs, stopTimers }: Pending, failure: Failure): boolean {
    const { retry, scheduleToCloseMs } = task.options;
    const info = failure.applicationFailureInfo;
    if (task.attempt >= retry.attempts || info?.nonRetryable === true) return false;
    if (retry.nonRetryable.includes(info?.type ?? '')) return false;
    const usualMs = Math.min(retry.initialMs * retry.coefficient ** (task.attempt - 1), retry.maximumMs);
    const backoffMs = optionalTsToMs(info?.nextRetryDelay) ?? usualMs;
    if (clock.nowMs + backoffMs > firstScheduledMs + scheduleToCloseMs) return false;
    stopTimers();
    const next: ActivityTask = {
      ...task,
      attempt: task.attempt + 1,
      scheduledMs: clock.nowMs + backoffMs,
      startedMs: null,
    };
    pending.set(keyOf(next), {
      task: next,
      firstScheduledMs,
      stopTimers: whenUp(backoffMs, () => offer(next, firstScheduledMs)),
    });
    return true;
  }

  function finish({ task, stopTimers }: Pending, outcome: Outcome, timedOut: boolean): void {
    const { run, seq, type, scheduledId, attempt, startedMs } = task;
    stopTimers();
    pending.delete(keyOf(task));
    if (startedMs !== null) host.add(run, { kind: 'activityStarted', seq, scheduledId, attempt });
    host.add(run, { kind: 'activityClosed', seq, type, scheduledId, startedId: 0, outcome, timedOut });
  }

  function beat(task: ActivityTask): void {
    const entry = current(task);
    if (entry === undefined || task.options.heartbeatMs === Infinity) return;
    task.run.heartbeats += 1;
    entry.stopTimers();
    const { startToCloseMs, scheduleToCloseMs, heartbeatMs } = task.options;
    entry.stopTimers = timers(task, [
      ['startToClose', task.startedMs! + startToCloseMs - clock.nowMs],
      ['scheduleToClose', entry.firstScheduledMs + scheduleToCloseMs - clock.nowMs],
      ['heartbeat', heartbeatMs],
    ]);
  }

  return {
    schedule(run, { seq, type, input, options, scheduledId }, by) {
      if (options === null) throw new Error('a command has options');
      const scheduledMs = clock.nowMs;
      offer(
        { run, seq, type, input, scheduledId, attempt: 1, scheduledMs, startedMs: null, options, details: null },
        scheduledMs,
        by,
      );
    },
    start(task) {
      const entry = current(task);
      if (entry === undefined || task.startedMs !== null || !host.isUp()) return false;
      entry.stopTimers();
      task.startedMs = clock.nowMs;
      const { startToCloseMs, heartbeatMs, scheduleToCloseMs } = task.options;
      entry.stopTimers = timers(task, [
        ['startToClose', startToCloseMs],
        ['scheduleToClose', entry.firstScheduledMs + scheduleToCloseMs - clock.nowMs],
        ['heartbeat', heartbeatMs],
      ]);
      return true;
    },
    isAwaited: (task) => current(task) !== undefined,
    awaitedForMs(task) {
      beat(task);
      return current(task) === undefined ? null : clock.nowMs - task.scheduledMs;
    },
    heartbeat(task, details = task.details ?? undefined) {
      if (current(task) === undefined) return false;
      task.details = details ?? null;
      beat(task);
      return true;
    },
    close(task, outcome) {
      const entry = current(task);
      if (entry === undefined) return;
      if ('result' in outcome || !again(entry, outcome.failure)) finish(entry, outcome, false);
    },
    drop(run) {
      for (const [key, { task, stopTimers }] of pending) {
        if (task.run !== run) continue;
        stopTimers();
        pending.delete(key);
      }
    },
  };
}
