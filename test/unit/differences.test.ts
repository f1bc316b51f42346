import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences } from '../../src/features/schedules/client.ts';

const definition = (hour: number, more: object = {}) => ({
  calendars: [{ minute: [0], hour: [hour], dayOfMonth: Array.from({ length: 31 }, (_, index) => index + 1) }],
  ...more,
});

test('a difference is reported with its path, also in lists of equal length', () => {
  assert.deepEqual(differences(definition(0), definition(5)), ['calendars.0.hour.0: 0 → 5']);
  assert.deepEqual(differences(definition(0), definition(0, { note: 'x'.repeat(80) })), [
    `note: none → "${'x'.repeat(58)}…`,
  ]);
});

test('lists of different length are reported whole, or by their number of entries', () => {
  assert.deepEqual(differences({ sites: ['1'] }, { sites: ['1', '2'] }), ['sites: ["1"] → ["1","2"]']);
  const many = Array.from({ length: 100 }, (_, index) => index);
  assert.deepEqual(differences({ sites: [] }, { sites: many }), ['sites: [] → 100 entries']);
});
