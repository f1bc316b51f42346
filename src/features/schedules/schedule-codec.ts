/** Converts a schedule to Temporal's form and back. */
import type { CalendarSpec, DayOfWeek, Month, ScheduleDescription, ScheduleOptions } from '@temporalio/client';
import { scheduledId } from '../../contract/ids.ts';
import { SCHEDULED_TYPE } from '../../contract/names.ts';
import type { ScheduledInput, Calendar, ScheduleDefinition } from './shapes.ts';
import { DAYS, MONTHS } from '../../request/calendar/cron-times.ts';
import { scheduledStaticDetails } from '../../request/other-details.ts';
import { TIMING } from '../../contract/timing.ts';

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

/** A schedule at Temporal, in the form of a definition. `overlap` may be a policy that belay.yaml has no word for. */
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
    month: ranges(month).map((it) => named<Month>(it, (value) => MONTHS[value - 1])),
    dayOfWeek: ranges(dayOfWeek).map((it) => named<DayOfWeek>(it, (value) => DAYS[value])),
    ...(year === null ? {} : { year }),
    comment,
  };
}

type CalendarDescription = NonNullable<ScheduleDescription['spec']['calendars']>[number];

function calendarOf({ minute, hour, dayOfMonth, month, dayOfWeek, year, comment }: CalendarDescription): Calendar {
  return {
    minute: listed(minute),
    hour: listed(hour),
    dayOfMonth: listed(dayOfMonth),
    month: listed(month.map((it) => numbered(it, MONTHS))).map((index) => index + 1),
    dayOfWeek: listed(dayOfWeek.map((it) => numbered(it, DAYS))),
    year: listed(year)[0] ?? null,
    comment: comment ?? '',
  };
}

interface Range {
  start: number;
  end: number;
  step: number;
}

function ranges(values: number[]): Range[] {
  const all: Range[] = [];
  for (const value of values) {
    const last = all.at(-1);
    if (last?.end === value - 1) last.end = value;
    else all.push({ start: value, end: value, step: 1 });
  }
  return all;
}

function listed(all: readonly Range[]): number[] {
  const values = all.flatMap(({ start, end, step }) => {
    const count = Math.floor((Math.max(start, end) - start) / (step || 1)) + 1;
    return Array.from({ length: count }, (_, index) => start + index * (step || 1));
  });
  return [...new Set(values)].sort((a, b) => a - b);
}

function named<T extends string>({ start, end, step }: Range, name: (value: number) => string | undefined) {
  const upper = (value: number) => (name(value) ?? '').toUpperCase() as T;
  return { start: upper(start), end: upper(end), step };
}

function numbered({ start, end, step }: { start: string; end: string; step: number }, names: readonly string[]): Range {
  const index = (name: string) => names.indexOf(name.toLowerCase());
  return { start: index(start), end: index(end), step };
}
