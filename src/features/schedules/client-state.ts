/**
 * Reads the state of the schedules at Temporal, and of the runs that they started last. Translates definitions of
 * schedules into Temporal's options, and back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ScheduleDescription,
  type ScheduleSummary,
  type CalendarSpec,
  DAYS_OF_WEEK,
  MONTHS,
  type Range,
  type ScheduleOptions,
  ApplicationFailure,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  WorkflowFailedError,
} from '@temporalio/client';
import pMap from 'p-map';
import { TIMING } from '../../contract/timing.ts';
import { SCHEDULE_PREFIX, scheduledId } from '../../contract/ids.ts';
import { type ErrorType, type Outcome, SCHEDULED_TYPE } from '../../contract/names.ts';
import type { ScheduledResult, ScheduledInput, Calendar, ScheduleDefinition } from './shapes.ts';
import { IN_PARALLEL, type Session } from '../../client/session.ts';
import { isUnanswered, codeOf, GRPC, grpcCause } from '../../client/transport/grpc-errors.ts';
import { serviceFact } from '../../request/run-details.ts';
import { durationText } from '../../contract/duration.ts';
import { detailsPage, factList } from '../../contract/markdown.ts';
import { codeSpan } from '../../contract/safe-text.ts';
import { BelayError } from '../../contract/errors.ts';
import { resultIn, unlessMissing } from '../../client/read-workflow.ts';
import { toBelayError } from '../../client/to-belay-error.ts';
import { leniently } from '../../encryption/payload-codec.ts';

const LAST_SHOWN = 3;

export interface ScheduleState {
  scheduleId: string;
  /**
   * False if Temporal lists the schedule, but does not answer for it. The other fields then come from the list, which
   * may lag: `when` is null, and `skipped` and `missed` are 0.
   */
  answered: boolean;
  /** The schedule as written in belay.yaml. */
  when: string | null;
  timeZone: string;
  paused: boolean;
  /** The reason of the last pause or resume. */
  note: string | null;
  /** ISO times of the next firings. */
  next: string[];
  /** The last firings, the newest first. */
  last: Firing[];
  /** How many firings were skipped because the last run was still in progress. */
  skipped: number;
  /** How many firings were missed for longer than the catch-up window. */
  missed: number;
  /** Why the list could not read all of it. What it could not read is null. Absent if it read all. */
  unreadable?: string;
}

export interface Firing {
  firedAt: string;
  /** Workflow id of the run or rollout. Null while it is not known. */
  workflowId: string | null;
  /** Null until the run or rollout ends, and again once Temporal has deleted it. */
  outcome: Outcome | null;
  /** True once Temporal has deleted the workflow, some time after it closed. */
  forgotten: boolean;
  /** True if the run or rollout of its slot had already been started. */
  alreadyStarted: boolean;
  /** What froze it, if a freeze is why it was not completed. A part may have been deployed before. */
  frozen: string | null;
  /** Why what it left could not be read, so that its outcome is null. Absent if it could. */
  unreadable?: string;
}

/** Lists the schedules of Belay. The list lags a moment. */
export async function summaries({ client }: Session): Promise<ScheduleSummary[]> {
  const ours: ScheduleSummary[] = [];
  for await (const summary of client.schedule.list()) {
    if (summary.scheduleId.startsWith(SCHEDULE_PREFIX)) ours.push(summary);
  }
  return ours.sort((a, b) => (a.scheduleId < b.scheduleId ? -1 : 1));
}

export async function listSchedules(session: Session): Promise<ScheduleState[]> {
  const { scheduleMs, scheduleAnswerMs } = TIMING.client;
  const lastMs = Date.now() + scheduleMs - scheduleAnswerMs;
  const states = await pMap(
    await summaries(session),
    async (summary) => {
      const untilMs = Math.min(Date.now() + scheduleAnswerMs, lastMs);
      const handle = session.client.schedule.getHandle(summary.scheduleId);
      const { answer, unreadable } = await leniently(() =>
        session.client
          .withDeadline(untilMs, () => describeSchedule(handle))
          .catch(unlessUnanswered)
          .then((described) => stateOfSchedule(session, summary, described))
          .catch(unlessGone),
      );
      const why = unreadable ?? answer?.last.find((it) => it.unreadable !== undefined)?.unreadable;
      return answer === null || why === undefined ? answer : { ...answer, unreadable: why };
    },
    IN_PARALLEL,
  );
  return states.filter((state) => state !== null);
}

function unlessUnanswered(error: unknown): null {
  if (isUnanswered(error)) return null;
  throw error;
}

async function stateOfSchedule(
  session: Session,
  summary: ScheduleSummary,
  described: ScheduleDescription | null,
): Promise<ScheduleState> {
  const { info, state, spec } = described ?? summary;
  const recent = info.recentActions.slice(-LAST_SHOWN).reverse();
  return {
    scheduleId: summary.scheduleId,
    answered: described !== null,
    when: described === null ? null : (definitionOf(described).input?.when ?? null),
    timeZone: spec?.timezone || 'UTC',
    paused: state.paused,
    note: state.note || null,
    next: (state.paused ? [] : info.nextActionTimes).slice(0, LAST_SHOWN).map((at) => at.toISOString()),
    last: await Promise.all(
      recent.map(({ takenAt, action }) => firingOf(session, takenAt.toISOString(), action.workflow)),
    ),
    skipped: described?.info.numActionsSkippedOverlap ?? 0,
    missed: described?.info.numActionsMissedCatchupWindow ?? 0,
  };
}

export async function firingOf(
  { client }: Session,
  firedAt: string,
  { workflowId, firstExecutionRunId }: { workflowId: string; firstExecutionRunId: string },
): Promise<Firing> {
  const handle = client.workflow.getHandle(workflowId, firstExecutionRunId);
  const unknown = { firedAt, workflowId: null, outcome: null, forgotten: false, alreadyStarted: false, frozen: null };
  const read = async (): Promise<Firing> => {
    const { status, raw } = await handle.describe();
    if (status.name === 'RUNNING') return { ...unknown, workflowId: raw.pendingChildren?.[0]?.workflowId ?? null };
    const left = (await handle.result().catch(leftBy)) as Partial<ScheduledResult> | null;
    // A firing that a defect ended leaves no outcome, but is no longer in progress.
    return { ...unknown, ...left, outcome: left?.outcome ?? (left?.alreadyStarted === true ? null : 'unknown') };
  };
  const { answer, unreadable } = await leniently(() => unlessMissing(read()));
  if (answer === null) return { ...unknown, forgotten: true };
  return unreadable === null ? answer : { ...unknown, workflowId: answer.workflowId, unreadable };
}

/** The types of failures before a firing starts anything. */
const NOTHING_STARTED: readonly unknown[] = ['NoWorker', 'Usage'] satisfies ErrorType[];

/** @returns the result that a failed firing left. @throws the error if it is no failure of the firing itself */
function leftBy(error: unknown): Partial<ScheduledResult> | null {
  if (!(error instanceof WorkflowFailedError)) throw error;
  const { cause } = error;
  const startedNothing = cause instanceof ApplicationFailure && NOTHING_STARTED.includes(cause.type);
  return resultIn<ScheduledResult>(error) ?? (startedNothing ? { outcome: 'not_started' } : null);
}

type Action = Extract<ScheduleOptions['action'], { type: 'startWorkflow' }>;

/** Sets every field, because Temporal's defaults differ between its versions. */
export function optionsOf(definition: ScheduleDefinition, taskQueue: string) {
  const { input, calendars, timeZone, jitterMs, overlap, catchUpMs, pauseOnFailure } = definition;
  const action: Action = {
    type: 'startWorkflow',
    workflowType: SCHEDULED_TYPE,
    workflowId: scheduledId(input.fleet, input.schedule),
    taskQueue,
    args: [input],
    workflowTaskTimeout: TIMING.worker.workflowTaskMs,
    staticSummary: `Schedule ${input.schedule} of ${input.fleet}`,
    staticDetails: scheduledStaticDetails(input),
  };
  return {
    spec: { calendars: calendars.map(calendarSpec), timezone: timeZone, jitter: jitterMs },
    action,
    policies: { overlap: OVERLAPS[overlap], catchupWindow: catchUpMs, pauseOnFailure },
  } satisfies Partial<ScheduleOptions>;
}

/**
 * Returns a schedule at Temporal in the form of a definition. `overlap` may be a policy that belay.yaml has no word
 * for.
 */
export function definitionOf(description: ScheduleDescription) {
  const { scheduleId, spec, action, policies, state } = description;
  return {
    scheduleId,
    input: (action.args?.[0] ?? null) as ScheduledInput | null,
    calendars: (spec.calendars ?? []).map(calendarOf),
    timeZone: spec.timezone || 'UTC',
    jitterMs: spec.jitter ?? 0,
    overlap: Object.entries(OVERLAPS).find(([, name]) => name === policies.overlap)?.[0] ?? policies.overlap,
    catchUpMs: policies.catchupWindow,
    pauseOnFailure: policies.pauseOnFailure,
    taskQueue: action.taskQueue,
    workflowType: action.workflowType,
    workflowId: action.workflowId,
    intervals: spec.intervals ?? [],
    skip: spec.skip ?? [],
    startAt: spec.startAt?.toISOString() ?? null,
    endAt: spec.endAt?.toISOString() ?? null,
    remainingActions: state.remainingActions ?? null,
  };
}

/** Fields that no definition sets, but that a user may have changed by hand. */
export function fixedFields({ input: { fleet, schedule } }: ScheduleDefinition, taskQueue: string) {
  return {
    taskQueue,
    workflowType: SCHEDULED_TYPE,
    workflowId: scheduledId(fleet, schedule),
    intervals: [],
    skip: [],
    startAt: null,
    endAt: null,
    remainingActions: null,
  };
}

const OVERLAPS = { skip: 'SKIP', queue: 'BUFFER_ONE' } as const;

function calendarSpec({ minute, hour, dayOfMonth, month, dayOfWeek, year, comment }: Calendar): CalendarSpec {
  return {
    second: 0,
    minute: ranges(minute),
    hour: ranges(hour),
    dayOfMonth: ranges(dayOfMonth),
    month: ranges(month.map((it) => it - 1)).map((it) => named(it, MONTHS)),
    dayOfWeek: ranges(dayOfWeek).map((it) => named(it, DAYS_OF_WEEK)),
    ...(year === null ? {} : { year }),
    comment,
  };
}

type CalendarDescription = NonNullable<ScheduleDescription['spec']['calendars']>[number];

function calendarOf({ minute, hour, dayOfMonth, month, dayOfWeek, year, comment }: CalendarDescription): Calendar {
  return {
    minute: valuesIn(minute),
    hour: valuesIn(hour),
    dayOfMonth: valuesIn(dayOfMonth),
    month: valuesIn(month.map((it) => numbered(it, MONTHS))).map((index) => index + 1),
    dayOfWeek: valuesIn(dayOfWeek.map((it) => numbered(it, DAYS_OF_WEEK))),
    year: valuesIn(year)[0] ?? null,
    comment: comment ?? '',
  };
}

function ranges(values: number[]): Range<number>[] {
  const all: Range<number>[] = [];
  for (const value of values) {
    const last = all.at(-1);
    if (last?.end === value - 1) last.end = value;
    else all.push({ start: value, end: value, step: 1 });
  }
  return all;
}

/** The SDK has made sure that no range ends before it starts, and that every step is at least 1. */
function valuesIn(all: readonly Range<number>[]): number[] {
  const values = all.flatMap(({ start, end, step }) =>
    Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, index) => start + index * step),
  );
  return [...new Set(values)].sort((a, b) => a - b);
}

const named = <T>({ start, end, step }: Range<number>, names: readonly T[]): Range<T> => ({
  start: names[start]!,
  end: names[end]!,
  step,
});

const numbered = <T>({ start, end, step }: Range<T>, names: readonly T[]): Range<number> => ({
  start: names.indexOf(start),
  end: names.indexOf(end),
  step,
});

/* Describes a schedule, even while Temporal repairs it. */

/** Call this within a deadline. @throws as `ScheduleHandle.describe` does */
export async function describeSchedule(schedule: {
  describe(): Promise<ScheduleDescription>;
}): Promise<ScheduleDescription> {
  for (;;) {
    try {
      return await schedule.describe();
    } catch (error) {
      if (!isBeingRepaired(error)) throw error;
    }
    await sleep(TIMING.client.scheduleRetryMs);
  }
}

/**
 * Temporal keeps a schedule in a workflow. After a failed task, that workflow answers no query until the task has been
 * repeated.
 */
function isBeingRepaired(error: unknown): boolean {
  const cause = grpcCause(error);
  return (
    codeOf(cause) === GRPC.failedPrecondition &&
    /task in failed state/i.test(cause instanceof Error ? cause.message : '')
  );
}

/** The list lags, so the schedule may have been deleted since. */
export function unlessGone(error: unknown): null {
  if (error instanceof ScheduleNotFoundError) return null;
  throw error;
}

export function scheduleError(what: string, error: unknown): BelayError {
  if (error instanceof ScheduleAlreadyRunning) {
    return new BelayError(
      'Usage',
      `cannot ${what}: another user is applying ${error.scheduleId} at the same time; apply again`,
    );
  }
  if (!(error instanceof ScheduleNotFoundError)) return toBelayError(error, what);
  return new BelayError('NotFound', `cannot ${what}: there is no such schedule; \`belay schedule list\` shows them`);
}

/** Describes every firing of a schedule. Temporal stores the details with the schedule, so they name no time. */
function scheduledStaticDetails({ fleet, schedule, when, timeZone, catchUpMs, start }: ScheduledInput): string {
  return detailsPage(
    `Fired by the schedule ${codeSpan(schedule)} of the fleet ${codeSpan(fleet)}. ` +
      'Starts its run or rollout once for each slot, and ends the way that ends.',
    factList(
      {
        When: `${codeSpan(when)} in ${codeSpan(timeZone)}`,
        Starts: start.type,
        Service: serviceFact(start.input.service),
        'Too late': `it starts nothing if no worker takes it up within ${durationText(catchUpMs)}`,
      },
      start.input.meta,
    ),
    'Stop the schedule: `belay schedule pause`. To stop what it started, open the page of that.',
  );
}
