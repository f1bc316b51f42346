import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isTimeZone, localText, movedTimes, slotOf } from '../../src/request/calendar/local-time.ts';
import { cronTimes } from '../../src/request/calendar/cron-times.ts';
import type { Calendar, ScheduleDefinition } from '../../src/features/schedules/shapes.ts';
import { days, definitionsOf } from '../support/schedule-files.ts';

const WEEK = [0, 1, 2, 3, 4, 5, 6];

const definitionOf = (cron: string, timeZone: string, year: number): ScheduleDefinition => {
  const schedules = { nightly: { start: { backup: 's1' }, cron, timeZone } };
  return definitionsOf({ fleets: { shop: { servers: { s1: {} } } }, schedules }, year)[0]!;
};
describe('a time zone', () => {
  test('is a name that Node knows and not an offset', () => {
    for (const name of ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'Etc/GMT+5']) assert.ok(isTimeZone(name), name);
    for (const name of ['', 'Europe/Bonn', '+02:00', 'local', ' UTC', 'PST', 'Gmt', 'SystemV/EST5', 'Europe/berlin'])
      assert.ok(!isTimeZone(name), name);
  });

  test('converts an instant to its local time', () => {
    assert.equal(localText(new Date('2026-03-29T01:00:59Z'), 'Europe/Berlin'), '2026-03-29 03:00');
    assert.equal(localText(new Date('2026-10-03T15:30:00Z'), 'Australia/Lord_Howe'), '2026-10-04 02:30');
  });

  test('moves a time that its clocks skip to the end of the gap', () => {
    for (const [cron, zone, ...expected] of [
      ['30 2 * * *', 'Europe/Berlin', '2025-03-30 02:30 → 2025-3-30 3:0', '2026-03-29 02:30 → 2026-3-29 3:0'],
      ['0 2 * * *', 'America/New_York', '2025-03-09 02:00 → 2025-3-9 3:0', '2026-03-08 02:00 → 2026-3-8 3:0'],
      ['15 2 * * *', 'Australia/Lord_Howe', '2025-10-05 02:15 → 2025-10-5 2:30', '2026-10-04 02:15 → 2026-10-4 2:30'],
      ['30 23 * * *', 'America/Nuuk', '2025-03-29 23:30 → 2025-3-30 0:0', '2026-03-28 23:30 → 2026-3-29 0:0'],
      ['30 0 * * *', 'America/Santiago', '2025-09-07 00:30 → 2025-9-7 1:0', '2026-09-06 00:30 → 2026-9-6 1:0'],
      ['0,40 2 29 * *', 'Europe/Berlin', '2026-03-29 02:00 → 2026-3-29 3:0', '2026-03-29 02:40 → 2026-3-29 3:0'],
      ['30 2 * * sun', 'Europe/Berlin', '2025-03-30 02:30 → 2025-3-30 3:0', '2026-03-29 02:30 → 2026-3-29 3:0'],
      // The gap contains its start but not its end.
      ['0 3 * * *', 'Europe/Berlin'],
      ['59 1 * * *', 'Europe/Berlin'],
      // Clocks change on Sundays, and not in April.
      ['30 2 * * mon-sat', 'Europe/Berlin'],
      ['30 2 * apr *', 'Europe/Berlin'],
      ['30 2 * * *', 'Asia/Tokyo'],
      ['30 2 * * *', 'UTC'],
    ] as const) {
      const moved = cronTimes(cron).flatMap((times) => movedTimes(times, zone, [2025, 2026]));
      const shown = moved.map(
        ({ date, time, to }) => `${date} ${time} → ${to.year}-${to.month}-${to.day} ${to.hour}:${to.minute}`,
      );
      assert.deepEqual(shown, expected, `${cron} ${zone}`);
    }
  });
});

describe('a slot', () => {
  const berlin = 'Europe/Berlin';
  test('is the local date if there is one time a day, even if that time is moved, repeated or early', () => {
    const night = { granularity: 'day', times: ['02:30'] } as const;
    for (const [firedAt, zone, slot] of [
      ['2026-03-28T01:30:00Z', berlin, '2026-03-28'],
      ['2026-03-29T01:00:00Z', berlin, '2026-03-29'],
      ['2026-03-30T00:30:00.000Z', berlin, '2026-03-30'],
      ['2026-10-25T00:30:00Z', berlin, '2026-10-25'],
      ['2026-10-25T01:30:00Z', berlin, '2026-10-25'],
      ['2026-03-08T07:00:00Z', 'America/New_York', '2026-03-08'],
      ['2026-10-03T15:30:00Z', 'Australia/Lord_Howe', '2026-10-04'],
      ['2026-01-01T17:30:00Z', 'Asia/Tokyo', '2026-01-02'],
    ] as const) {
      assert.equal(slotOf({ ...night, times: [...night.times] }, zone, firedAt), slot, firedAt);
    }
    const late = { granularity: 'day' as const, times: ['23:30'] };
    assert.equal(slotOf(late, 'America/Nuuk', '2026-03-29T01:00:00Z'), '2026-03-28', 'moved to the next date');
  });

  test('is one time of the local date if there are several', () => {
    const times = { granularity: 'time' as const, times: ['02:00', '02:30', '14:00'] };
    for (const [firedAt, slot] of [
      ['2026-03-28T01:00:00Z', '2026-03-28T0200'],
      ['2026-03-28T01:30:00Z', '2026-03-28T0230'],
      ['2026-03-28T13:00:00Z', '2026-03-28T1400'],
      // Both move to the same instant, so they are one firing.
      ['2026-03-29T01:00:00Z', '2026-03-29T0230'],
      ['2026-10-25T00:30:00Z', '2026-10-25T0230'],
      ['2026-10-25T01:30:00Z', '2026-10-25T0230'],
    ] as const) {
      assert.equal(slotOf(times, berlin, firedAt), slot, firedAt);
    }
  });

  test('is the instant if the schedule fires all day, so a repeated hour fires twice', () => {
    const hourly = { granularity: 'instant' as const, times: [] };
    assert.equal(slotOf(hourly, berlin, '2026-10-25T00:30:00Z'), '20261025T003000Z');
    assert.equal(slotOf(hourly, berlin, '2026-10-25T01:30:00.900Z'), '20261025T013000Z');
  });

  test('is separate for a firing at none of the times of the schedule, so it uses no other slot', () => {
    const night = { granularity: 'day' as const, times: ['02:30'] };
    assert.equal(slotOf(night, berlin, '2026-03-28T11:22:33.4Z'), 'by-hand-20260328T112233Z');
    assert.equal(slotOf(night, berlin, '2026-03-28T01:30:01Z'), 'by-hand-20260328T013001Z');
    assert.equal(slotOf(night, 'UTC', '2026-03-29T03:00:00Z'), 'by-hand-20260329T030000Z');
    assert.equal(slotOf({ ...night, granularity: 'time' }, berlin, '2026-03-29T00:59:00Z'), 'by-hand-20260329T005900Z');
  });

  test('derives from the schedule as its day, one of its times, or the instant', () => {
    const slot = (cron: string) => definitionOf(cron, berlin, 2026).input.slot;
    assert.deepEqual(slot('30 2 * * *'), { granularity: 'day', times: ['02:30'] });
    assert.deepEqual(slot('30 2 1 * mon'), { granularity: 'day', times: ['02:30'] }, 'either day, at one time');
    assert.deepEqual(slot('30 2,14 * * *'), { granularity: 'time', times: ['02:30', '14:30'] });
    assert.equal(slot('*/10 2 * * *').granularity, 'time');
    assert.equal(slot('*/10 * * * *').granularity, 'instant');
    assert.equal(slot('0 0-22 * * *').granularity, 'time');
  });
});

// No test uses a leap year.
const daysOf = (year: number) => days(`${year}-01-01`, 0, 364);

/** Every instant at which clocks show a calendar's times in a year. Skipped times have none. */
function firings({ hour, minute, dayOfMonth, month, dayOfWeek, year }: Calendar, zone: string, inYear: number) {
  if (year !== null && year !== inYear) return [];
  return daysOf(inYear)
    .filter((it) => month.includes(it.month) && dayOfMonth.includes(it.day) && dayOfWeek.includes(it.dayOfWeek % 7))
    .flatMap((day) => hour.flatMap((h) => minute.map((m) => day.toPlainDateTime({ hour: h, minute: m }))))
    .flatMap((wall) => {
      const at = (disambiguation: 'earlier' | 'later') => wall.toZonedDateTime(zone, { disambiguation });
      const there = [at('earlier'), at('later')].filter((it) => it.toPlainDateTime().equals(wall));
      return [...new Set(there.map((it) => it.toInstant().toString()))];
    });
}

const anyZone = fc.oneof(
  fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
  // Gaps of half an hour and of two hours, at midnight and before it, twice a year and in Ramadan.
  fc.constantFrom('Australia/Lord_Howe', 'Antarctica/Troll', 'Africa/Cairo', 'America/Nuuk', 'Africa/Casablanca'),
);
// Includes the hours at night, when clocks change.
const anyHour = fc.oneof(fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 1, 2, 3, 22, 23));
const anyDays = fc.oneof(fc.constant(WEEK), fc.uniqueArray(fc.constantFrom(...WEEK), { minLength: 1 }));

test('property: any time of day in any zone has each of its local dates exactly once', () => {
  const property = fc.property(
    ...([anyZone, anyHour, fc.integer({ min: 0, max: 59 }), anyDays, fc.constantFrom(2025, 2026, 2031)] as const),
    (zone, hour, minute, week, year) => {
      const { calendars, input } = definitionOf(`${minute} ${hour} * * ${week.join(',')}`, zone, year);
      const at = new Set(calendars.flatMap((calendar) => firings(calendar, zone, year)));
      const slots = [...at].map((instant) => slotOf(input.slot, zone, instant));
      const dates = daysOf(year).filter((it) => week.includes(it.dayOfWeek % 7));
      assert.deepEqual([...new Set(slots)].sort(), dates.map(String));
      assert.ok(slots.length <= dates.length + 4, 'only a repeated time fires twice');
    },
  );
  fc.assert(property, { numRuns: 25 });
});
