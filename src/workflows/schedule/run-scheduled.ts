/**
 * What a schedule fires: starts the run or rollout of the slot, under an id made of the slot, so that a night that has
 * a time twice has one run; and ends as that does, so that the schedule sees overlaps and failures.
 */
import { ApplicationFailure, defineSearchAttributeKey, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, proxyActivities, startChild, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import { RUN_TYPES, type RunInput, type RunResult } from '../../contract/run.ts';
import {
  ROLLOUT_TYPE,
  type RolloutInput,
  type RolloutResult,
  type ScheduledInput,
  type ScheduledResult,
  type Slot,
} from '../../contract/rollout.ts';
import { rolloutId, runWorkflowId } from '../../contract/ids/workflow-ids.ts';
import { problemOfId, problemOfInput } from '../../request/validate-run-input.ts';
import { launchOf, rolloutLaunchOf } from '../../request/start-options.ts';
import { problemOfRollout } from '../../request/validate-rollout-input.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { endOf, type Ending } from '../run/child-operations.ts';

const { findSlot } = proxyActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  retry: { nonRetryableErrorTypes: ['RangeError'] },
});

const FIRED_AT = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

export async function runScheduled(input: ScheduledInput): Promise<ScheduledResult> {
  refuseOtherInput(input);
  const { slot, timeZone, fleet, schedule, catchUpMs } = input;
  const { startTime, typedSearchAttributes } = workflowInfo();
  if (Date.now() - startTime.getTime() > catchUpMs) {
    const message = `no worker took it up within ${catchUpMs} ms, so nothing was started`;
    throw ApplicationFailure.create({ type: 'NoWorker', message, nonRetryable: true });
  }
  const firedAt = (typedSearchAttributes.get(FIRED_AT) ?? startTime).toISOString();
  const slotKey = await findSlot({ slot, timeZone, firedAt }).catch(() => {
    throw noSchedule(`there is no time zone ${plainText(timeZone)}`);
  });
  // Another file of the namespace may have a rollout and a schedule of the same names.
  const key = `${fleet}.${schedule}.${slotKey}`;
  const child = await startOnce(input, key).catch((error: unknown) => {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return error.workflowId;
    throw error;
  });
  if (typeof child === 'string') return { workflowId: child, already: true, outcome: null };
  const { end } = await endOf(child);
  const result: ScheduledResult = { workflowId: child.workflowId, already: false, outcome: end.outcome };
  if (end.error === null) return result;
  throw ApplicationFailure.create({ ...end.error, nonRetryable: true, details: [result] });
}

/** @throws WorkflowExecutionAlreadyStartedError where the slot is taken */
async function startOnce({ start }: ScheduledInput, key: string): Promise<Ending<RunResult | RolloutResult>> {
  const once = { workflowIdReusePolicy: 'REJECT_DUPLICATE', parentClosePolicy: ParentClosePolicy.ABANDON } as const;
  if (start.type === ROLLOUT_TYPE) {
    const input: RolloutInput = { ...start.input, key };
    const workflowId = rolloutId(input.name, key);
    return startChild<(input: RolloutInput) => Promise<RolloutResult>>(ROLLOUT_TYPE, {
      ...rolloutLaunchOf(input),
      ...once,
      workflowId,
      args: [input],
    });
  }
  const { type, input } = start;
  const workflowId = runWorkflowId(type, input, key);
  return startChild<(input: RunInput) => Promise<RunResult>>(type, {
    ...launchOf(input),
    ...once,
    workflowId,
    args: [input],
  });
}

/** The UI can start workflows and change schedules, and a mistake in the code would be tried again for ever. */
function refuseOtherInput(input: Partial<ScheduledInput> | null | undefined): void {
  const { slot, timeZone, fleet, schedule, catchUpMs, start } = input ?? {};
  const isSlot = SLOTS.includes(String(slot?.once)) && Array.isArray(slot?.times);
  const isNamed = [fleet, schedule].every((name) => problemOfId(name) === null);
  const isTimed = typeof timeZone === 'string' && typeof catchUpMs === 'number';
  const problem = isSlot && isNamed && isTimed ? problemOfStart(start ?? null) : 'it has no slot, name or time zone';
  if (problem !== null) throw noSchedule(problem);
}

const SLOTS: readonly string[] = ['day', 'time', 'instant'] satisfies Slot['once'][];

function problemOfStart(start: ScheduledInput['start'] | null): string | null {
  if (start?.type === ROLLOUT_TYPE) return problemOfRollout({ ...start.input, key: 'any' });
  const isRun = start !== null && RUN_TYPES.includes(start.type);
  return isRun ? problemOfInput(start.type, start.input) : 'start: names neither a run nor a rollout';
}

function noSchedule(problem: string): ApplicationFailure {
  const message = `this is nothing a schedule fires: ${problem}; use belay schedule apply`;
  return ApplicationFailure.create({ type: 'Usage', message, nonRetryable: true });
}
