import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstAfter } from '../../src/request/calendar/local-time.ts';
import { planRun } from '../../src/request/run-options.ts';
import { deadlineOf, whyTooLate, type DeployLimits } from '../../src/rules/deadline.ts';

const HOUR = 3_600_000;
const LIMITS: DeployLimits = {
  startedMs: 10 * HOUR,
  startDeploysWithinMs: null,
  backupBeganMs: null,
  maxAgeAtDeployMs: 24 * HOUR,
  until: null,
};

test('a run without a backup and without limits has no deadline', () => {
  assert.equal(deadlineOf(LIMITS), null);
  assert.equal(whyTooLate(null, Infinity), null);
});

test('the earliest limit is the deadline, and the message names it', () => {
  const limits = {
    ...LIMITS,
    startDeploysWithinMs: 2 * HOUR,
    backupBeganMs: 9 * HOUR,
    until: { atMs: 13 * HOUR, text: '06:00 (Europe/Berlin)' },
  };
  const within = deadlineOf(limits);
  assert.equal(within?.at, new Date(12 * HOUR).toISOString());
  assert.match(within?.reason ?? '', /within 2h of its start/);
  assert.match(deadlineOf({ ...limits, startDeploysWithinMs: null })?.reason ?? '', /until 06:00 \(Europe\/Berlin\)/);
  assert.match(deadlineOf({ ...LIMITS, backupBeganMs: 0 })?.reason ?? '', /at most 24h old/);
});

test('it is too late after the deadline, and not at it', () => {
  const deadline = deadlineOf({ ...LIMITS, startDeploysWithinMs: HOUR });
  assert.equal(whyTooLate(deadline, 11 * HOUR), null);
  assert.match(whyTooLate(deadline, 11 * HOUR + 1) ?? '', /too late.*1970-01-01T11:00:00/);
});

test('a backup may be 24 hours old at the trigger, or an hour older than one that may be reused', () => {
  const ageOf = (backup: object) => planRun({ siteIds: [], backup }).backup.maxAgeAtDeployMs;
  assert.equal(ageOf({}), 24 * HOUR);
  assert.equal(ageOf({ maxAgeMs: 2 * HOUR }), 24 * HOUR);
  assert.equal(ageOf({ maxAgeMs: 48 * HOUR }), 49 * HOUR);
  assert.equal(ageOf({ maxAgeMs: 48 * HOUR, maxAgeAtDeployMs: HOUR }), HOUR);
});

test('a time of day is the first one after an instant, in its time zone', () => {
  assert.equal(firstAfter('06:00', 'Europe/Berlin', '2026-07-01T00:30:00Z'), '2026-07-01T04:00:00Z');
  assert.equal(firstAfter('06:00', 'Europe/Berlin', '2026-07-01T04:00:00Z'), '2026-07-02T04:00:00Z');
  assert.equal(firstAfter('23:30', 'UTC', '2026-07-01T23:29:59Z'), '2026-07-01T23:30:00Z');
  // The clock goes from 02:00 to 03:00.
  assert.equal(firstAfter('02:30', 'Europe/Berlin', '2026-03-28T23:30:00Z'), '2026-03-29T01:30:00Z');
  // The clock goes from 03:00 back to 02:00, so it shows 02:30 twice.
  for (const [after, first] of [
    ['2026-10-25T00:20:00Z', '2026-10-25T00:30:00Z'],
    ['2026-10-25T00:40:00Z', '2026-10-25T01:30:00Z'],
    ['2026-10-25T01:30:00Z', '2026-10-26T01:30:00Z'],
  ] as const)
    assert.equal(firstAfter('02:30', 'Europe/Berlin', after), first, after);
});
