/** Freezes and windows on the clocks of a zone, compared with a clock that is read minute by minute. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { cronTimes } from '../../src/request/calendar/cron-times.ts';
import {
  instantOf,
  nextSpan,
  overlapsItself,
  spanAt,
  type Occurrences,
  type Span,
} from '../../src/request/calendar/local-spans.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const FREEZE: Occurrences = { begins: 'first', ends: 'second' };
const WINDOW: Occurrences = { begins: 'second', ends: 'first' };

/** Around both changes of the clock, a leap day and the end of a year. */
const DAYS = {
  'Europe/Berlin': ['2026-03-28', '2026-10-24', '2028-02-28', '2026-12-30'],
  'America/New_York': ['2026-03-07', '2026-10-31'],
  'Australia/Lord_Howe': ['2026-04-04', '2026-10-03'],
  UTC: ['2026-06-01'],
} as const;

type Zone = keyof typeof DAYS;
const zones = Object.keys(DAYS) as Zone[];

const recurrences = fc.record({
  hour: fc.integer({ min: 0, max: 23 }),
  minute: fc.integer({ min: 0, max: 59 }),
  lastsMinutes: fc.integer({ min: 1, max: 23 * 60 }),
  doubt: fc.constantFrom(FREEZE, WINDOW),
  place: fc.constantFrom(...zones.flatMap((zone) => DAYS[zone].map((day) => ({ zone, day })))),
});

const readMinutes = new Map<string, { atMs: number; shows: string }[]>();

/** Every minute of five days, with what the clock shows. */
function minutesFrom(day: string, zone: string): { atMs: number; shows: string }[] {
  const place = `${day} ${zone}`;
  const before = readMinutes.get(place);
  if (before !== undefined) return before;
  const start = Temporal.PlainDate.from(day).subtract({ days: 1 }).toZonedDateTime({ timeZone: zone });
  const minutes = Array.from({ length: 5 * 24 * 60 }, (_, index) => {
    const at = start.add({ minutes: index });
    return { atMs: at.epochMilliseconds, shows: at.toPlainDateTime().toString({ smallestUnit: 'minute' }) };
  });
  readMinutes.set(place, minutes);
  return minutes;
}

/** The first or last minute that shows this time; without one, the first minute after it. */
function minuteOf(minutes: ReturnType<typeof minutesFrom>, local: string, which: 'first' | 'second'): number {
  const showing = minutes.filter(({ shows }) => shows === local);
  const found = which === 'first' ? showing[0] : showing.at(-1);
  return (found ?? minutes.find(({ shows }) => shows > local))!.atMs;
}

test('a recurring span is active in exactly the minutes that a clock read minute by minute gives', () => {
  fc.assert(
    fc.property(recurrences, ({ hour, minute, lastsMinutes, doubt, place: { zone, day } }) => {
      const minutes = minutesFrom(day, zone);
      const recurrence = {
        times: cronTimes(`${minute} ${hour} * * *`),
        lastsMs: lastsMinutes * MINUTE,
        timeZone: zone,
      };
      const begin = Temporal.PlainDate.from(day).toPlainDateTime({ hour, minute });
      const spans = [-1, 0, 1, 2].map((days): Span => {
        const local = begin.add({ days });
        const end = local.add({ minutes: lastsMinutes });
        const text = (it: Temporal.PlainDateTime) => it.toString({ smallestUnit: 'minute' });
        return {
          beginMs: minuteOf(minutes, text(local), doubt.begins),
          endMs: minuteOf(minutes, text(end), doubt.ends),
        };
      });
      // The two days in the middle: the spans before and after those are not all known.
      for (const { atMs } of minutes.slice(24 * 60, 3 * 24 * 60).filter((_, index) => index % 7 === 0)) {
        const expected = spans.some(({ beginMs, endMs }) => beginMs <= atMs && atMs < endMs);
        const found = spanAt(recurrence, doubt, atMs);
        assert.equal(found !== null, expected, new Date(atMs).toISOString());
      }
    }),
    { numRuns: 15 },
  );
});

test('Friday 18:00 and 60 hours end on Monday at 06:00, also on the weekends on which clocks change', () => {
  const weekends = { times: cronTimes('0 18 * * fri'), lastsMs: 60 * HOUR, timeZone: 'Europe/Berlin' };
  for (const [friday, monday] of [
    ['2026-03-27T17:00:00Z', '2026-03-30T04:00:00Z'],
    ['2026-10-23T16:00:00Z', '2026-10-26T05:00:00Z'],
    ['2026-11-20T17:00:00Z', '2026-11-23T05:00:00Z'],
  ] as const) {
    const span = { beginMs: Date.parse(friday), endMs: Date.parse(monday) };
    assert.deepEqual(spanAt(weekends, FREEZE, span.beginMs), span);
    assert.deepEqual(spanAt(weekends, FREEZE, span.endMs - 1), span);
    assert.equal(spanAt(weekends, FREEZE, span.beginMs - 1), null);
    assert.equal(spanAt(weekends, FREEZE, span.endMs), null);
    assert.deepEqual(nextSpan(weekends, FREEZE, span.beginMs - 1), span);
  }
});

test('a time that a day skips is the end of the gap, and one that occurs twice is in doubt', () => {
  const berlin = (local: string, which: 'first' | 'second') =>
    new Date(instantOf(Date.parse(`${local}Z`), 'Europe/Berlin', which)).toISOString();
  assert.equal(berlin('2026-03-29T02:30', 'first'), '2026-03-29T01:00:00.000Z');
  assert.equal(berlin('2026-03-29T02:30', 'second'), '2026-03-29T01:00:00.000Z');
  assert.equal(berlin('2026-10-25T02:30', 'first'), '2026-10-25T00:30:00.000Z');
  assert.equal(berlin('2026-10-25T02:30', 'second'), '2026-10-25T01:30:00.000Z');
});

test('the next span is found years ahead', () => {
  const leapDays = { times: cronTimes('0 0 29 feb *'), lastsMs: HOUR, timeZone: 'UTC' };
  const next = nextSpan(leapDays, WINDOW, Date.parse('2096-03-01T00:00:00Z'));
  assert.equal(next?.beginMs, Date.parse('2104-02-29T00:00:00Z'));
});

for (const [cron, lastsMs, expected] of [
  ['0 1 * * *', 24 * HOUR, true],
  ['0 1 * * *', 24 * HOUR - 1, false],
  ['* * * * *', MINUTE, true],
  ['0 18 * * fri', 60 * HOUR, false],
  ['0 0 1 * sat', 25 * HOUR, true],
  ['0 0 1 * *', 28 * 24 * HOUR, true],
] as const) {
  test(`"${cron}" for ${lastsMs} ms ${expected ? 'begins again before it ends' : 'ends before it begins again'}`, () => {
    assert.equal(overlapsItself({ times: cronTimes(cron), lastsMs }), expected);
  });
}
