/** Limits the signals that a flood of events causes, because a workflow accepts at most 10,000. */
import {
  WorkflowNotFoundError,
  type Client,
  type WorkflowHandle,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { leniently } from '../../encryption/payload-codec.ts';
import { unlessMissing } from '../read-workflow.ts';
import { isSignalLimitError } from '../transport/grpc-errors.ts';
import { TIMING } from '../../contract/timing.ts';
import { HISTORY_BUDGET } from '../../contract/history-budget.ts';
import type { OperationMemo } from '../../contract/operation.ts';
import type { RunMemo } from '../../contract/run.ts';
import type { RolloutMemo } from '../../features/rollouts/shapes.ts';

/** After this many signals of one kind to one workflow, the gap between them grows. */
const MANY_SIGNALS = 100;

/** The clock of this machine, as tests replace it. */
export interface SignalClock {
  nowMs: () => number;
  after: (ms: number, act: () => void) => void;
}

const OWN: SignalClock = {
  nowMs: () => Date.now(),
  after: (ms, act) => void setTimeout(act, ms).unref(),
};

/** @returns true at once if the signal is shared or sent later; else whether the workflow exists and accepted it */
export type ThrottledSignal<T> = (workflowId: string, argument: T) => Promise<boolean>;

/**
 * Sends at most one signal per second for each workflow and kind, and in a flood one every ten seconds. Calls in
 * between share the next signal without waiting for it, because each would occupy a slot of the worker.
 *
 * @param kindOf the kind of a signal; two signals are the same if their kinds are equal as JSON
 * @param accepts asked before a signal is sent
 */
export function createThrottledSignal<T>(
  client: Client,
  name: string,
  kindOf: (argument: T) => unknown,
  accepts: (handle: WorkflowHandle, argument: T) => Promise<boolean> = () => Promise.resolve(true),
  clock = OWN,
): ThrottledSignal<T> {
  const latest = new Map<string, { atMs: number; count: number }>();
  const send = async (workflowId: string, argument: T): Promise<boolean> => {
    const handle = client.workflow.getHandle(workflowId);
    return (await accepts(handle, argument)) && isTaken(handle.signal<[T]>(name, argument));
  };
  return (workflowId, argument) => {
    const key = JSON.stringify([workflowId, kindOf(argument)]);
    const before = latest.get(key);
    const nowMs = clock.nowMs();
    if (before !== undefined && before.atMs > nowMs) return Promise.resolve(true);
    const count = (before?.count ?? 0) + 1;
    const gapMs = count > MANY_SIGNALS ? TIMING.event.floodSignalGapMs : TIMING.event.signalGapMs;
    const atMs = Math.max(nowMs, (before?.atMs ?? 0) + gapMs);
    const entry = { atMs, count };
    latest.set(key, entry);
    const forget = () => void (latest.get(key) === entry && latest.delete(key));
    clock.after(atMs - nowMs + TIMING.event.floodSignalGapMs, forget);
    if (atMs <= nowMs)
      return send(workflowId, argument).catch((error: unknown) => {
        // What follows must not share a signal that was not sent.
        if (latest.get(key) === entry) latest.delete(key);
        throw error;
      });
    // If this fails or the process ends first, only time is lost: the same signal was sent less than a gap ago.
    clock.after(atMs - nowMs, () => void send(workflowId, argument).catch(() => undefined));
    return Promise.resolve(true);
  };
}

/** @returns false if the workflow is gone, or accepts no more signals */
export const isTaken = (signal: Promise<void>): Promise<boolean> =>
  signal.then(
    () => true,
    (error: unknown) => {
      if (error instanceof WorkflowNotFoundError || isSignalLimitError(error)) return false;
      throw error;
    },
  );

/*
 * Tells whether a workflow that polls has room for signals, and polls the service that they are about. The receiver
 * cannot reject a signal, so the sender looks first.
 */

export const hasRoomForSignals = ({ historyLength }: Pick<WorkflowExecutionDescription, 'historyLength'>): boolean =>
  historyLength < HISTORY_BUDGET.signalsUntilEvents;

/**
 * @param services one of these must be the service of the workflow. Absent: any service will do
 * @param wants whether the workflow has a use for the signal, if it has room for it
 */
export async function acceptsSignals(
  handle: Pick<WorkflowHandle, 'describe'>,
  services: readonly string[] | undefined,
  wants: (description: WorkflowExecutionDescription) => boolean = () => true,
  hasRoom: (description: WorkflowExecutionDescription) => boolean | Promise<boolean> = hasRoomForSignals,
): Promise<boolean> {
  // A memo that this process cannot decode names no service to it. That must not keep the signal back.
  const { answer: description } = await leniently(() => unlessMissing(handle.describe()));
  if (description === null) return false;
  return (await hasRoom(description)) && isOfService(description, services) && wants(description);
}

/**
 * Operations, runs and rollouts name their service in the memo. A workflow that was started from the UI may name none.
 */
export function isOfService(
  { memo }: Pick<WorkflowExecutionDescription, 'memo'>,
  services: readonly string[] | undefined,
): boolean {
  const { service, input } = (memo ?? {}) as Partial<OperationMemo & RolloutMemo & RunMemo>;
  const recorded = service ?? input?.service;
  return recorded === undefined || services === undefined || services.includes(recorded);
}
