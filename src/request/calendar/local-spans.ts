/**
 * Spans in the local time of a zone. A local time is stored as the milliseconds since 1970 that it would have in UTC,
 * so that days and durations are plain arithmetic. Only `instantOf` knows about daylight saving. Pure, except for
 * Node's time zone data.
 */
import { Temporal } from 'temporal-polyfill';
import type { Times } from '../../features/schedules/shapes.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** 29 February may be eight years away. */
const MAX_DAYS_AHEAD = 8 * 366;
/** Every combination of date and day of the week occurs within 28 years. */
const DAYS_IN_CYCLE = 28 * 366;
const FIRST_OF_CYCLE_MS = Date.UTC(2000, 0, 1);
/** No clock is put forward or back by more than this. */
const MAX_SHIFT_MS = DAY_MS;

/** Which of the two instants counts if a local time occurs twice. */
export type Occurrence = 'first' | 'second';

/**
 * A span that begins first and ends second covers every ambiguous minute. A span that begins second and ends first
 * covers none.
 */
export interface Occurrences {
  begins: Occurrence;
  ends: Occurrence;
}

/** Instants, in milliseconds since 1970. The span includes its begin, but not its end. */
export interface Span {
  beginMs: number;
  endMs: number;
}

/** A span that begins at these local times and lasts this long on the zone's clock. */
export interface Recurrence {
  times: readonly Times[];
  lastsMs: number;
  timeZone: string;
}

/** @param text local time, such as `2026-12-20T18:00` */
export const localMsOf = (text: string): number => Date.parse(`${text}Z`);

/**
 * Returns the instant at which clocks show a local time. For a time that a day skips, it returns the end of the gap.
 */
export function instantOf(localMs: number, timeZone: string, occurrence: Occurrence): number {
  const local = Temporal.Instant.fromEpochMilliseconds(localMs).toZonedDateTimeISO('UTC').toPlainDateTime();
  const first = local.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (!first.toPlainDateTime().equals(local)) return first.getTimeZoneTransition('next')!.epochMilliseconds;
  if (occurrence === 'first') return first.epochMilliseconds;
  return local.toZonedDateTime(timeZone, { disambiguation: 'later' }).epochMilliseconds;
}

/** Returns the span of a recurrence that contains an instant, or null. */
export function spanAt(recurrence: Recurrence, occurrences: Occurrences, atMs: number): Span | null {
  const { lastsMs, timeZone } = recurrence;
  const localMs = localAt(atMs, timeZone);
  const spans = beginsBetween(recurrence, localMs - lastsMs - MAX_SHIFT_MS, localMs + MAX_SHIFT_MS)
    .map((beginMs) => spanFrom(recurrence, occurrences, beginMs))
    .filter(({ beginMs, endMs }) => beginMs <= atMs && atMs < endMs);
  return spans.at(-1) ?? null;
}

/** Returns the first span that begins after an instant. Null if none begins in eight years. */
export function nextSpan(recurrence: Recurrence, occurrences: Occurrences, afterMs: number): Span | null {
  const localMs = localAt(afterMs, recurrence.timeZone);
  for (let day = -1; day <= MAX_DAYS_AHEAD; day += 1) {
    const fromMs = startOfDay(localMs) + day * DAY_MS;
    const spans = beginsBetween(recurrence, fromMs, fromMs + DAY_MS - 1).map((it) =>
      spanFrom(recurrence, occurrences, it),
    );
    const next = spans.find(({ beginMs }) => beginMs > afterMs);
    if (next !== undefined) return next;
  }
  return null;
}

/** True if a span begins before the previous one has ended, or just then, so that the two are one. */
export function overlapsItself({ times, lastsMs }: Pick<Recurrence, 'times' | 'lastsMs'>): boolean {
  let lastMs = -Infinity;
  for (let day = 0; day < DAYS_IN_CYCLE; day += 1) {
    for (const beginMs of beginsOnDay(times, FIRST_OF_CYCLE_MS + day * DAY_MS)) {
      if (beginMs - lastMs <= lastsMs) return true;
      lastMs = beginMs;
    }
  }
  return false;
}

function spanFrom({ lastsMs, timeZone }: Recurrence, { begins, ends }: Occurrences, localMs: number): Span {
  return {
    beginMs: instantOf(localMs, timeZone, begins),
    endMs: instantOf(localMs + lastsMs, timeZone, ends),
  };
}

function localAt(atMs: number, timeZone: string): number {
  const local = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone).toPlainDateTime();
  return local.toZonedDateTime('UTC').epochMilliseconds;
}

/** Returns the local times at which a span begins, in order. Both bounds are included. */
function beginsBetween({ times }: Pick<Recurrence, 'times'>, fromMs: number, toMs: number): number[] {
  const begins: number[] = [];
  for (let dayMs = startOfDay(fromMs); dayMs <= toMs; dayMs += DAY_MS) begins.push(...beginsOnDay(times, dayMs));
  return begins.filter((ms) => ms >= fromMs && ms <= toMs);
}

function beginsOnDay(times: readonly Times[], dayMs: number): number[] {
  const begins = times
    .filter((it) => isOnDay(it, new Date(dayMs)))
    .flatMap(({ hour, minute }) => hour.flatMap((h) => minute.map((m) => dayMs + (h * 60 + m) * MINUTE_MS)));
  return [...new Set(begins)].sort((a, b) => a - b);
}

const startOfDay = (localMs: number): number => Math.floor(localMs / DAY_MS) * DAY_MS;

const isOnDay = ({ dayOfMonth, month, dayOfWeek }: Times, day: Date): boolean =>
  dayOfMonth.includes(day.getUTCDate()) && month.includes(day.getUTCMonth() + 1) && dayOfWeek.includes(day.getUTCDay());
