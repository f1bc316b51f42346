import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { calendarText, cronTimes, everFires, timesOf, timesOfDay } from '../../src/request/calendar/cron-times.ts';
import type { Times } from '../../src/features/schedules/shapes.ts';

const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);
const WEEK = from(0, 6);
const ALL: Times = { minute: [0], hour: [0], dayOfMonth: from(1, 31), month: from(1, 12), dayOfWeek: WEEK };

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

  test('a calendar is told in words', () => {
    const times = { hour: [2], minute: [30], month: ['january' as const] };
    assert.equal(calendarText({ ...times, dayOfMonth: [1, 15] }), '02:30 on day 1, 15 in january');
    assert.equal(calendarText({ ...times, dayOfWeek: ['monday', 'friday'] }), '02:30 on monday, friday in january');
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
