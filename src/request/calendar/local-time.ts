/** Daylight saving: local times that a day skips, and times that it has twice. Pure, except for Node's time zone data. */
import { Temporal } from 'temporal-polyfill';
import type { Times, Slot } from '../../features/schedules/shapes.ts';
import { timesOfDay } from './cron-times.ts';

/** A time that a day does not have, because clocks are put forward over it. */
export interface MovedTime {
  date: string;
  time: string;
  /** The end of the gap, in local time. */
  to: { year: number; month: number; day: number; hour: number; minute: number };
}

const AREAS = 'Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Canada|Etc|Europe|Indian|Pacific|US';
/** Node accepts more names, such as PST, that the Temporal server rejects. */
const ZONE = new RegExp(`^(UTC|(${AREAS})(/[A-Z][\\w+-]*)+)$`);

export function isTimeZone(name: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    // Node ignores case, the Temporal server does not. An offset such as +01:00 has no daylight saving.
    const isOtherCase = timeZone.toLowerCase() === name.toLowerCase() && timeZone !== name;
    return ZONE.test(name) && !isOtherCase;
  } catch {
    return false;
  }
}

/** @param years the first and the last year */
export function movedTimes(times: Times, timeZone: string, years: readonly [number, number]): MovedTime[] {
  return gapsIn(timeZone, years).flatMap(({ start, end }) =>
    timesOfDay(times)
      .filter((time) => isWithin(start.toPlainDate().toPlainDateTime(time), { start, end }) && matches(times, start))
      .map((time) => {
        const { year, month, day, hour, minute } = end;
        return { date: start.toPlainDate().toString(), time, to: { year, month, day, hour, minute } };
      }),
  );
}

/** Names the slot that a firing belongs to. Each slot starts once. A firing at any other time was triggered by hand. */
export function slotOf({ granularity, times }: Slot, timeZone: string, firedAt: string): string {
  const instant = Temporal.Instant.from(firedAt);
  const at = instant.toZonedDateTimeISO(timeZone).toPlainDateTime();
  const exact = instant.round({ smallestUnit: 'second', roundingMode: 'floor' }).toString().replace(/[-:]/g, '');
  if (granularity === 'instant') return exact;
  const time = at.toPlainTime().toString({ smallestUnit: 'minute' });
  const fired = at.second === 0 && times.includes(time) ? at : movedTo(instant, timeZone, times);
  if (fired === null) return `by-hand-${exact}`;
  const date = fired.toPlainDate().toString();
  return granularity === 'day'
    ? date
    : `${date}T${fired.toPlainTime().toString({ smallestUnit: 'minute' }).replace(':', '')}`;
}

/**
 * Returns the first instant after another at which clocks show this time, ISO 8601. A time that the day skips moves
 * forward. A time that the day has twice may be over once, and still to come.
 */
export function firstAfter(time: string, timeZone: string, after: string): string {
  const from = Temporal.Instant.from(after);
  const today = from.toZonedDateTimeISO(timeZone).toPlainDate();
  const instants = [today, today.add({ days: 1 })].flatMap((date) => {
    const local = date.toPlainDateTime(time);
    return [local.toZonedDateTime(timeZone), local.toZonedDateTime(timeZone, { disambiguation: 'later' })];
  });
  return instants
    .map((it) => it.toInstant())
    .find((it) => Temporal.Instant.compare(it, from) > 0)!
    .toString();
}

export function localText(at: Date, timeZone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timeZone);
  return local.toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ');
}

interface Gap {
  start: Temporal.PlainDateTime;
  end: Temporal.PlainDateTime;
}

function gapsIn(timeZone: string, [from, to]: readonly [number, number]): Gap[] {
  const gaps: Gap[] = [];
  let at = Temporal.PlainDate.from({ year: from, month: 1, day: 1 }).toZonedDateTime({ timeZone });
  for (;;) {
    const next = at.getTimeZoneTransition('next');
    if (next === null || next.year > to) return gaps;
    const gap = gapBefore(next.toInstant(), timeZone);
    if (gap !== null) gaps.push(gap);
    at = next;
  }
}

/** Returns the local times skipped at this instant. Null if clocks were not put forward. */
function gapBefore(instant: Temporal.Instant, timeZone: string): Gap | null {
  const end = instant.toZonedDateTimeISO(timeZone).toPlainDateTime();
  const start = instant
    .subtract({ nanoseconds: 1 })
    .toZonedDateTimeISO(timeZone)
    .toPlainDateTime()
    .add({ nanoseconds: 1 });
  return Temporal.PlainDateTime.compare(start, end) < 0 ? { start, end } : null;
}

function movedTo(instant: Temporal.Instant, timeZone: string, times: string[]): Temporal.PlainDateTime | null {
  const gap = gapBefore(instant, timeZone);
  if (gap === null) return null;
  const moved = times.map((time) => gap.start.toPlainDate().toPlainDateTime(time)).filter((it) => isWithin(it, gap));
  return moved.at(-1) ?? null;
}

function isWithin(at: Temporal.PlainDateTime, { start, end }: Gap): boolean {
  return Temporal.PlainDateTime.compare(at, start) >= 0 && Temporal.PlainDateTime.compare(at, end) < 0;
}

function matches({ dayOfMonth, month, dayOfWeek }: Times, at: Temporal.PlainDateTime): boolean {
  return dayOfMonth.includes(at.day) && month.includes(at.month) && dayOfWeek.includes(at.dayOfWeek % 7);
}
