/** Turns a cron expression or a calendar from belay.yaml into the times at which a schedule fires. Pure. */
import { CronExpressionParser } from 'cron-parser';
import type { Times } from '../../features/schedules/shapes.ts';

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
const MAX_TIMES_LISTED = 8;
const CRON_ITEM = /^(\*|\d+|[a-z]{3})(-(\d+|[a-z]{3}))?(\/\d+)?$/i;
/** For minute, hour, day of month, month and day of week. */
const MAX_STEP = [59, 23, 31, 12, 7];
const STEPS =
  'write that one time, or a step of at most 59 minutes, 23 hours, 31 days, 12 months or 7 days of the week';

/**
 * @returns two entries if day of month and day of week are both restricted, because cron then fires on either
 * @throws Error with a message for people
 */
export function cronTimes(text: string): Times[] {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5) {
    throw new Error(
      `"${text}" has ${fields.length} fields, not 5: write minute, hour, day of month, month, day of week`,
    );
  }
  const invalid = fields.flatMap((field) => field.split(',')).find((item) => !CRON_ITEM.test(item));
  if (invalid !== undefined) {
    throw new Error(`"${invalid}" is not valid in a cron expression: write something like 30 2 * * mon-fri`);
  }
  const tooFar = fields.flatMap((field, index) =>
    field.split(',').filter((item) => stepOf(item) > (MAX_STEP[index] ?? 0)),
  );
  if (tooFar.length > 0) {
    throw new Error(`the step in "${tooFar[0]}" is longer than the range, so only its first time fires: ${STEPS}`);
  }
  const { minute, hour, dayOfMonth, month, dayOfWeek } = parse(text).fields;
  const times: Times = {
    minute: numbers(minute.values),
    hour: numbers(hour.values),
    // For "*" the parser lists only the days that the given months have. The full list means "any day".
    dayOfMonth: dayOfMonth.isWildcard ? ALL.dayOfMonth : numbers(dayOfMonth.values),
    month: numbers(month.values),
    dayOfWeek: numbers(dayOfWeek.values.map((day) => Number(day) % 7)),
  };
  // As in cron, a day field that begins with "*" (even with a step) is combined with the other day field by "and".
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

/** A schedule has either a cron expression or a calendar. */
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
    times.length <= MAX_TIMES_LISTED ? times.join(', ') : `${times.length} times a day`,
    ...(dayOfWeek === undefined ? [] : [`on ${dayOfWeek.join(', ')}`]),
    ...(dayOfMonth === undefined ? [] : [`on day ${dayOfMonth.join(', ')}`]),
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

export function timesOfDay({ hour, minute }: Times): string[] {
  return hour.flatMap((h) => minute.map((m) => `${twoDigits(h)}:${twoDigits(m)}`));
}

/** False for dates that no year has, such as 30 February. */
export function everFires({ dayOfMonth, month }: Times): boolean {
  // 2024 is a leap year.
  return month.some((it) => dayOfMonth.some((day) => day <= new Date(Date.UTC(2024, it, 0)).getUTCDate()));
}

const RANGES = 'write minute 0-59, hour 0-23, day of month 1-31, month 1-12 or jan-dec, day of week 0-7 or sun-sat';

function parse(text: string) {
  try {
    return CronExpressionParser.parse(text);
  } catch (error) {
    const isNever = (error as Error).message.includes('day of month');
    const message = isNever
      ? 'it never fires: no given month has that day'
      : `"${text}" is not a cron expression: ${RANGES}`;
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
