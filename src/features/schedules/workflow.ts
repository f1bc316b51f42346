/**
 * The workflow that a schedule fires. It starts the run or rollout of a slot under an id made from the slot, so that a
 * local time that occurs twice in a night starts one run. It ends as that run ends, so that the schedule sees overlaps
 * and failures.
 */
import { ApplicationFailure, defineSearchAttributeKey, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { isCancellation, ParentClosePolicy, setCurrentDetails, startChild, workflowInfo } from '@temporalio/workflow';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import type { RunInput, RunResult } from '../../contract/run.ts';
import type { RolloutInput, RolloutResult } from '../rollouts/shapes.ts';
import { rolloutId, runWorkflowId, scheduleId } from '../../contract/ids.ts';
import { isText, problemOfId, TIME_OF_DAY } from '../../request/problems.ts';
import { runStartOptions } from '../../request/start-options.ts';
import { rolloutStartOptions } from '../../request/rollout-start-options.ts';
import { attributesOfRun } from '../../request/search-attributes.ts';
import type { WorkerInfo } from '../../contract/activities.ts';
import { failsSchedule, type ScheduledInput, type ScheduledResult, type Slot } from './shapes.ts';
import { durationText } from '../../contract/duration.ts';
import { uiPage, workflowLink } from '../../contract/markdown.ts';
import { codeSpan, plainText } from '../../contract/safe-text.ts';
import { letWorkerCheck, restoredSince } from '../../workflows/check-worker.ts';
import { linkToThis, startAttributes } from '../../workflows/ui.ts';
import { awaitChild, type PendingChild } from '../../workflows/children.ts';
import { usageFailure, type Conclusion } from '../../workflows/conclusion.ts';
import { resolveSlot } from '../../workflows/activity-proxies.ts';

const FIRED_AT = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

export async function runScheduled(input: ScheduledInput): Promise<ScheduledResult> {
  refuseOtherInput(input);
  const { slot, timeZone, fleet, schedule, catchUpMs, jitterMs = 0, queues = false } = input;
  const { startTime, typedSearchAttributes } = workflowInfo();
  const nominalAt = typedSearchAttributes.get(FIRED_AT) ?? startTime;
  // Uses the nominal time, because a restored Temporal fires again for times that were handled before. Only the start
  // shows how long a firing waited for the last run.
  const dueMs = queues ? startTime.getTime() : nominalAt.getTime() + jitterMs;
  if (Date.now() - dueMs > catchUpMs) {
    const message = `nothing was started: this firing was planned for ${nominalAt.toISOString()}, over ${durationText(catchUpMs)} ago`;
    throw ApplicationFailure.create({ type: 'NoWorker', message, nonRetryable: true });
  }
  const firedAt = nominalAt.toISOString();
  const facts = await checkStart(input.start);
  // A slot from before a restore may have been done, although Temporal does not know it any more.
  const restored = restoredSince({}, facts, nominalAt.getTime())?.error;
  if (restored !== undefined && restored !== null) throw ApplicationFailure.create({ ...restored, nonRetryable: true });
  const slotKey = await resolveSlot({ slot, timeZone, firedAt }).catch((error: unknown) => {
    // Any other error would pause the schedule.
    if (isCancellation(error)) throw error;
    throw inputError(`there is no time zone ${plainText(timeZone)}`);
  });
  // Another belay.yaml in this namespace may have a rollout or a schedule of the same name.
  const key = `${fleet}.${schedule}.${slotKey}`;
  const child = await startOnce(input, { key, firedAt, facts }).catch((error: unknown) => {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return error.workflowId;
    throw error;
  });
  if (typeof child === 'string') {
    setCurrentDetails(uiPage(`This slot was done before: ${workflowLink(child)}`));
    return { workflowId: child, alreadyStarted: true, outcome: null };
  }
  const started = `Slot ${codeSpan(slotKey)} is done by ${workflowLink(child.workflowId)}`;
  setCurrentDetails(uiPage(`${started}, which is in progress`));
  const { outcome, error } = await awaitChild<Conclusion>(child, { outcome: null, error: null });
  setCurrentDetails(uiPage(`${started}: ${outcome ?? 'no outcome'}`));
  const result: ScheduledResult = { workflowId: child.workflowId, alreadyStarted: false, outcome };
  if (error === null) return result;
  if (failsSchedule(error)) throw ApplicationFailure.create({ ...error, nonRetryable: true, details: [result] });
  return error.type === 'Frozen' ? { ...result, frozen: error.message } : { ...result, superseded: true };
}

/** @throws WorkflowExecutionAlreadyStartedError if the slot was started before */
async function startOnce(
  { start, fleet, schedule, pauseOnFailure = false }: ScheduledInput,
  { key, firedAt, facts }: { key: string; firedAt: string; facts: WorkerInfo },
): Promise<PendingChild<RunResult | RolloutResult>> {
  const { epoch, searchAttributes } = facts;
  const startedBy = `the schedule ${codeSpan(schedule)} of the fleet ${codeSpan(fleet)}: ${linkToThis()}`;
  const once = { workflowIdReusePolicy: 'REJECT_DUPLICATE', parentClosePolicy: ParentClosePolicy.ABANDON } as const;
  const pauses = pauseOnFailure ? { pausesSchedule: scheduleId(fleet, schedule) } : {};
  if (start.type === ROLLOUT_TYPE) {
    const input: RolloutInput = { ...start.input, ...deadlineAfter(start.input, firedAt), epoch, key };
    const workflowId = rolloutId(input.name, key);
    const options = rolloutStartOptions(input, { startedBy });
    return startChild<(input: RolloutInput) => Promise<RolloutResult>>(ROLLOUT_TYPE, {
      ...options,
      memo: { ...options.memo, ...pauses },
      ...once,
      workflowId,
      args: [input],
    });
  }
  const { type } = start;
  const input: RunInput = { ...start.input, ...deadlineAfter(start.input, firedAt), epoch };
  const workflowId = runWorkflowId(type, input, key);
  const options = runStartOptions(input, { type, startedBy });
  return startChild<(input: RunInput) => Promise<RunResult>>(type, {
    ...options,
    memo: { ...options.memo, ...pauses },
    ...startAttributes(searchAttributes, attributesOfRun(input)),
    ...once,
    workflowId,
    args: [input],
  });
}

const deadlineAfter = ({ deploysUntil }: Pick<RunInput, 'deploysUntil'>, after: string) =>
  deploysUntil === undefined ? {} : { deploysUntil: { ...deploysUntil, after } };

/**
 * The UI can start this workflow with any input. Without this check, Temporal would retry a failing workflow task
 * forever.
 */
function refuseOtherInput(input: Partial<ScheduledInput> | null | undefined): void {
  const { slot, timeZone, fleet, schedule, catchUpMs, start } = input ?? {};
  const isSlot = SLOTS.some((it) => it === slot?.granularity) && Array.isArray(slot?.times) && slot.times.every(isTime);
  const isNamed = [fleet, schedule].every((name) => problemOfId(name) === null);
  const isTimed = typeof timeZone === 'string' && typeof catchUpMs === 'number';
  const isStart = typeof start === 'object' && start !== null;
  if (!isSlot || !isNamed || !isTimed || !isStart) throw inputError('it has no slot, name, time zone or start');
}

const isTime = (value: unknown): boolean => isText(value) && TIME_OF_DAY.test(value);

const SLOTS: readonly string[] = ['day', 'time', 'instant'] satisfies Slot['granularity'][];

/** @returns the facts of the worker that checked the request */
async function checkStart({ type, input }: ScheduledInput['start']): Promise<WorkerInfo> {
  // The real key comes from the slot.
  const request = { type, input: type === ROLLOUT_TYPE ? { ...input, key: 'any' } : input };
  const checked = await letWorkerCheck({ request });
  if ('error' in checked) throw inputError(`start: ${checked.error.message}`);
  return checked.facts;
}

function inputError(problem: string): ApplicationFailure {
  return usageFailure(`this is not the input of a schedule: ${problem}; use belay schedule apply`);
}
