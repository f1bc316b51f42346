/** When a schedule fires, from cron or a calendar, as lists of numbers. Pure. */
import { CronExpressionParser } from 'cron-parser';

/** Every field holds all that match; all of them have to. Sunday is 0, January 1. */
export interface Times {
  minute: number[];
  hour: number[];
  dayOfMonth: number[];
  month: number[];
  dayOfWeek: number[];
}

export const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
export const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
] as const;

const ALL = { dayOfMonth: range(1, 31), month: range(1, 12), dayOfWeek: range(0, 6) };
const MAX_TIMES_TOLD = 8;
const CRON_ITEM = /^(\*|\d+|[a-z]{3})(-(\d+|[a-z]{3}))?(\/\d+)?$/i;
/** Of minute, hour, day of month, month, day of week. */
const MAX_STEP = [59, 23, 31, 12, 7];
const STEPS = 'write that time, or a step of at most 59 minutes, 23 hours, 31 days, 12 months, 7 days of the week';

/** @returns several where day of month and day of week are both restricted: cron means either. @throws Error in words */
export function cronTimes(text: string): Times[] {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5) {
    throw new Error(`"${text}" has ${fields.length} fields: write minute, hour, day of month, month, day of week`);
  }
  const strange = fields.flatMap((field) => field.split(',')).find((item) => !CRON_ITEM.test(item));
  if (strange !== undefined) throw new Error(`"${strange}" is no part of a cron expression: write 30 2 * * mon-fri`);
  const far = fields.flatMap((field, index) =>
    field.split(',').filter((item) => stepOf(item) > (MAX_STEP[index] ?? 0)),
  );
  if (far.length > 0)
    throw new Error(`"${far[0]}" steps over its whole range, so it fires at its first time alone: ${STEPS}`);
  const { minute, hour, dayOfMonth, month, dayOfWeek } = parse(text).fields;
  const times: Times = {
    minute: numbers(minute.values),
    hour: numbers(hour.values),
    // What any day matches it cuts to the days the months have.
    dayOfMonth: dayOfMonth.isWildcard ? ALL.dayOfMonth : numbers(dayOfMonth.values),
    month: numbers(month.values),
    dayOfWeek: numbers(dayOfWeek.values.map((day) => Number(day) % 7)),
  };
  // A field that begins with * restricts nothing, also where it has a step: both have to match.
  if (fields[2]?.startsWith('*') === true || fields[4]?.startsWith('*') === true) return [times];
  return [
    { ...times, dayOfWeek: ALL.dayOfWeek },
    { ...times, dayOfMonth: ALL.dayOfMonth },
  ];
}

interface CalendarConfig {
  hour: number[];
  minute?: number[] | undefined;
  dayOfMonth?: number[] | undefined;
  dayOfWeek?: (typeof DAYS)[number][] | undefined;
  month?: (typeof MONTHS)[number][] | undefined;
}

/** Of a schedule, which has one of the two. */
export function timesOf({
  cron,
  calendar,
}: {
  cron?: string | undefined;
  calendar?: CalendarConfig | undefined;
}): Times[] {
  if (cron !== undefined) return cronTimes(cron);
  return calendar === undefined ? [] : [calendarTimes(calendar)];
}

/** `02:30 on monday, friday in january`. */
export function calendarText(calendar: CalendarConfig): string {
  const { dayOfMonth, dayOfWeek, month } = calendar;
  const times = timesOfDay(calendarTimes(calendar));
  return [
    times.length <= MAX_TIMES_TOLD ? times.join(', ') : `${times.length} times a day`,
    ...(dayOfWeek === undefined ? [] : [`on ${dayOfWeek.join(', ')}`]),
    ...(dayOfMonth === undefined ? [] : [`on the ${dayOfMonth.join('., ')}.`]),
    ...(month === undefined ? [] : [`in ${month.join(', ')}`]),
  ].join(' ');
}

function calendarTimes({ hour, minute, dayOfMonth, dayOfWeek, month }: CalendarConfig): Times {
  return {
    minute: numbers(minute ?? [0]),
    hour: numbers(hour),
    dayOfMonth: dayOfMonth === undefined ? ALL.dayOfMonth : numbers(dayOfMonth),
    month: month === undefined ? ALL.month : numbers(month.map((name) => MONTHS.indexOf(name) + 1)),
    dayOfWeek: dayOfWeek === undefined ? ALL.dayOfWeek : numbers(dayOfWeek.map((name) => DAYS.indexOf(name))),
  };
}

/** Of a day, `02:30`. */
export function timesOfDay({ hour, minute }: Times): string[] {
  return hour.flatMap((h) => minute.map((m) => `${twoDigits(h)}:${twoDigits(m)}`));
}

/** Whether there is a day in any year on which it fires. */
export function everFires({ dayOfMonth, month }: Times): boolean {
  // February has 29 days in some years.
  return month.some((it) => dayOfMonth.some((day) => day <= new Date(Date.UTC(2024, it, 0)).getUTCDate()));
}

const RANGES = 'write minute 0-59, hour 0-23, day of month 1-31, month 1-12 or jan-dec, day of week 0-7 or sun-sat';

function parse(text: string) {
  try {
    return CronExpressionParser.parse(text);
  } catch (error) {
    const isNever = (error as Error).message.includes('day of month');
    const message = isNever
      ? 'it never fires: no such month has such a day'
      : `"${text}" is no cron expression: ${RANGES}`;
    throw new Error(message, { cause: error });
  }
}

function numbers(values: readonly unknown[]): number[] {
  return [...new Set(values.map(Number))].sort((a, b) => a - b);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

const stepOf = (item: string) => Number(item.split('/')[1] ?? 0);

const twoDigits = (value: number) => String(value).padStart(2, '0');
