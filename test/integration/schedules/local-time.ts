import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { isTimeZone, localText, movedTimes, slotOf } from '../../../src/request/calendar/local-time.ts';
import { cronTimes, everFires, timesOf, timesOfDay } from '../../../src/request/calendar/cron-times.ts';
import { began } from '../../support/journal.ts';
import { apply, definitionsOf, fireFor, matchingTimes, nightly, settled } from '../../support/schedules.ts';
import { startTestStack, type TestStack } from '../../support/world.ts';
import type { Calendar, ScheduleDefinition, Times } from '../../../src/contract/schedule.ts';

const WEEK = [0, 1, 2, 3, 4, 5, 6];
const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);
const ALL: Times = { minute: [0], hour: [0], dayOfMonth: from(1, 31), month: from(1, 12), dayOfWeek: WEEK };

const definitionOf = (cron: string, timeZone: string, year: number): ScheduleDefinition => {
  const schedules = { nightly: { start: { backup: 's1' }, cron, timeZone } };
  return definitionsOf({ fleets: { shop: { servers: { s1: {} } } }, schedules }, year)[0]!;
};

describe('cron and calendar times', () => {
  test('cron fields accept numbers, lists, ranges, steps and names', () => {
    for (const [cron, expected] of [
      ['30 2 * * *', { minute: [30], hour: [2] }],
      ['  5,50,20   2-4 * * * ', { minute: [5, 20, 50], hour: [2, 3, 4] }],
      ['*/20 0-23/8 * * *', { minute: [0, 20, 40], hour: [0, 8, 16] }],
      ['5/25 0 * * *', { minute: [5, 30, 55] }],
      ['0 0 1,15 * *', { dayOfMonth: [1, 15] }],
      ['0 0 * jan,JUL *', { month: [1, 7] }],
      ['0 0 * 3-5 *', { month: [3, 4, 5] }],
      ['0 0 * * mon-fri', { dayOfWeek: [1, 2, 3, 4, 5] }],
      ['0 0 * * 7', { dayOfWeek: [0] }],
      ['0 0 * * 5-7', { dayOfWeek: [0, 5, 6] }],
      ['0 0 * May Sun', { month: [5], dayOfWeek: [0] }],
    ] as const) {
      assert.deepEqual(cronTimes(cron), [{ ...ALL, ...expected }], cron);
    }
  });

  test('cron with a day of month and a day of week matches either', () => {
    assert.deepEqual(cronTimes('0 0 1,15 6 mon'), [
      { ...ALL, month: [6], dayOfMonth: [1, 15] },
      { ...ALL, month: [6], dayOfWeek: [1] },
    ]);
    assert.equal(cronTimes('0 0 */2 * mon').length, 1, 'a step does not restrict the days');
    assert.equal(cronTimes('0 0 1 * *').length, 1);
    assert.equal(cronTimes('0 0 * * mon').length, 1);
  });

  test('cron without a day of month matches only the day of week, also in short months', () => {
    for (const [cron, expected] of [
      ['0 0 * feb mon', { month: [2], dayOfWeek: [1] }],
      ['0 0 * apr,jun 0', { month: [4, 6], dayOfWeek: [0] }],
    ] as const) {
      const all = cronTimes(cron);
      assert.equal(all.length, 1, `${cron} matches the days of either field`);
      assert.deepEqual([all[0]?.month, all[0]?.dayOfWeek], [expected.month, expected.dayOfWeek]);
    }
  });

  test('malformed cron is rejected with an error that quotes it', () => {
    const beyond = ['60 2 * * *', '0 24 * * *', '0 2 0 * *', '0 2 32 * *', '0 2 * 13 *', '0 2 * * 8', '*/0 2 * * *'];
    const strange = ['5-2 2 * * *', '0 2 * * fri-mon', '0 2 mon * *', '0 2 * * jan', '*-5 2 * * *'];
    for (const [cron, problem] of [
      ['30 2 * *', /"30 2 \* \*" has 4 fields, not 5: write minute, hour, day of month, month, day of week/],
      ['0 30 2 * * *', /has 6 fields/],
      ['@daily', /"@daily" has 1 field/],
      ...['0 2 L * *', '0 2 ? * *', '0 2 * * 1#2', '0 2 15W * *', '0 2 1,,2 * *', 'H 2 * * *', '0 2 * * montag'].map(
        (it) => [it, /^"[^"]*" is not valid in a cron expression: write something like 30 2 \* \* mon-fri$/] as const,
      ),
      ...[...beyond, ...strange].map((it) => [it, /"[^"]{9,}" is not a cron expression: ./] as const),
    ] as const) {
      assert.throws(() => cronTimes(cron), { name: 'Error', message: problem }, cron);
    }
  });

  test('calendar times match every field and default to the full hour', () => {
    assert.deepEqual(timesOf({ calendar: { hour: [5, 1, 5] } }), [{ ...ALL, hour: [1, 5] }]);
    const days = { dayOfMonth: [1], dayOfWeek: ['sunday' as const, 'saturday' as const], month: ['december' as const] };
    const expected = { minute: [30], hour: [2], dayOfMonth: [1], month: [12], dayOfWeek: [0, 6] };
    assert.deepEqual(timesOf({ calendar: { hour: [2], minute: [30], ...days } }), [expected]);
  });

  test('the times of a day combine every hour with every minute', () => {
    assert.deepEqual(timesOfDay({ ...ALL, hour: [2, 14], minute: [0, 5] }), ['02:00', '02:05', '14:00', '14:05']);
  });

  test('times fire only on dates that exist: 29 February does, 30 February never does', () => {
    assert.ok(everFires({ ...ALL, month: [2], dayOfMonth: [29] }));
    assert.ok(everFires({ ...ALL, month: [4, 5], dayOfMonth: [31] }));
    assert.ok(!everFires({ ...ALL, month: [2], dayOfMonth: [30, 31] }));
    assert.ok(!everFires({ ...ALL, month: [4, 6, 9, 11], dayOfMonth: [31] }));
  });
});

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

/** The dates from `first` to `last` days after a date. */
const days = (date: string, first: number, last: number) =>
  from(first, last).map((it) => Temporal.PlainDate.from(date).add({ days: it }));
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
  fc.assert(property, { numRuns: 80 });
});

describe('clock changes', { concurrency: 6 }, () => {
  let world: TestStack;
  before(async () => {
    world = await startTestStack({ defaults: { backup: { durationMs: 0 } } });
  });

  for (const [cron, timeZone, spring, autumn, moved, count] of [
    ['30 2 * * *', 'Europe/Berlin', '2025-03-30', '2025-10-26', '03:00', null],
    ['30 2 * * *', 'America/New_York', '2025-03-09', '2025-11-02', '03:00', 6],
    // Temporal fires at both times in the night with two 01:30s. East of Greenwich it fires at one of them.
    ['30 1 * * *', 'America/New_York', '2025-03-09', '2025-11-02', null, 7],
    ['15 2 * * *', 'Australia/Lord_Howe', '2025-10-05', '2025-04-06', '02:30', null],
    ['45 1 * * *', 'Australia/Lord_Howe', '2025-10-05', '2025-04-06', null, null],
    ['30 2 * * *', 'Asia/Tokyo', '2025-03-30', '2025-10-26', null, 6],
  ] as const) {
    test(`${cron} in ${timeZone} runs once each local day across both changes`, async () => {
      const { file, handle, fleet, serverId } = nightly(world, { cron, timeZone });
      await apply(world, file());
      const dates = [spring, autumn]
        .flatMap((it) => days(it, -1, 1))
        .map(String)
        .sort();
      const due = (await Promise.all(dates.map((date) => matchingTimes(world, handle, date)))).flat();
      if (count !== null) assert.equal(due.length, count);
      await fireFor(handle, dates, 'BUFFER_ALL');
      const fired = await settled(world, handle, due.length);
      const done = fired.filter(({ result }) => !result.alreadyStarted).map(({ result }) => result.workflowId);
      const expected = dates.map((date) => `backup:${serverId}:${fleet}.nightly.${date}`);
      assert.deepEqual(done.sort(), expected);
      assert.equal(fired.length - done.length, due.length - dates.length, 'the repeated time took a second slot');
      assert.equal(began(world.sandbox, 'backup', serverId).length, dates.length);
      if (moved === null) return;
      const onSpring = fired.find(({ result }) => result.workflowId.endsWith(spring));
      const at = /-(\d{4}-\d\d-\d\dT[\d:]+Z)$/.exec(onSpring?.id ?? '')?.[1] ?? '';
      assert.equal(localText(new Date(at), timeZone), `${spring} ${moved}`);
    });
  }

  // A past year: of the future, the server and this Node may have time zone data of different age.
  test("Temporal's own times over a year give each local date one slot in zones of every kind", async () => {
    for (const zone of [
      ...['America/Nuuk 23:30', 'America/Santiago 00:30', 'Pacific/Easter 21:15', 'Africa/Cairo 00:00'],
      ...['Asia/Beirut 00:30', 'Africa/Casablanca 02:45', 'Antarctica/Troll 01:30', 'Pacific/Chatham 02:50'],
      ...['Atlantic/Azores 00:15', 'America/Havana 00:15', 'America/St_Johns 01:59', 'Asia/Kolkata 00:00'],
    ]) {
      const [timeZone = '', hour, minute] = zone.split(/[ :]/);
      const { file, id, handle } = nightly(world, { cron: `${Number(minute)} ${Number(hour)} * * *`, timeZone });
      await apply(world, file());
      const due = await matchingTimes(world, handle, '2025-01-01', '2025-12-31');
      const { slot } = definitionsOf(file())[0]!.input;
      const slots = due.map((at) => slotOf(slot, timeZone, at));
      assert.deepEqual([...new Set(slots)].sort(), days('2025-01-01', 0, 364).map(String), zone);
      await world.belay.schedules.delete(id);
    }
  });
});
