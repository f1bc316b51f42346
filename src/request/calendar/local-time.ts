/** Local time and its changes: days without some time, and days with one twice. Pure, but for the zones Node knows. */
import { Temporal } from 'temporal-polyfill';
import type { Slot } from '../../contract/rollout.ts';
import { timesOfDay, type Times } from './cron-times.ts';

/** A time that doesn't exist on a day, because the clock jumps over it. */
export interface MovedTime {
  date: string;
  time: string;
  /** The end of the gap, on the same clock. */
  to: { year: number; month: number; day: number; hour: number; minute: number };
}

const AREAS = 'Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Canada|Etc|Europe|Indian|Pacific|US';
/** Node knows more, like PST, which Temporal doesn't. */
const ZONE = new RegExp(`^(UTC|(${AREAS})(/[A-Z][\\w+-]*)+)$`);

export function isTimeZone(name: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    // Node takes any case, Temporal doesn't; an offset knows no daylight saving.
    const isOtherCase = timeZone.toLowerCase() === name.toLowerCase() && timeZone !== name;
    return ZONE.test(name) && !isOtherCase;
  } catch {
    return false;
  }
}

/** @param years from, to */
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

/** What one firing is for: the same slot is done once. A firing at no time of the schedule was asked for by hand. */
export function slotOf({ once, times }: Slot, timeZone: string, firedAt: string): string {
  const instant = Temporal.Instant.from(firedAt);
  const at = instant.toZonedDateTimeISO(timeZone).toPlainDateTime();
  const exact = instant.round({ smallestUnit: 'second', roundingMode: 'floor' }).toString().replace(/[-:]/g, '');
  if (once === 'instant') return exact;
  const time = at.toPlainTime().toString({ smallestUnit: 'minute' });
  const fired = at.second === 0 && times.includes(time) ? at : movedTo(instant, timeZone, times);
  if (fired === null) return `by-hand-${exact}`;
  const date = fired.toPlainDate().toString();
  return once === 'day' ? date : `${date}T${fired.toPlainTime().toString({ smallestUnit: 'minute' }).replace(':', '')}`;
}

/** `2026-03-29 03:00`, as clocks there show it. */
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

/** The local time that was jumped over to this moment; null where the clock simply went on, or back. */
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
