import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TIMING } from '../../src/contract/timing.ts';
import type { ReadFailure } from '../../src/contract/activities.ts';
import {
  afterFailedRead,
  givenUp,
  heldBackUntilMs,
  NO_FAILED_READS,
  wholeTimeEndsMs,
} from '../../src/rules/read-failures.ts';

const failure = (httpStatus: number | null): ReadFailure => ({
  ok: false,
  kind: httpStatus === null ? 'network' : 'http',
  httpStatus,
  isJson: true,
  retryAfterMs: null,
  message: `GET: ${httpStatus}`,
});

const plenty = { nowMs: 0, nextAtMs: 1, wholeEndsMs: 1e9 };

function row(count: number, httpStatus: number | null) {
  let failed = NO_FAILED_READS;
  for (let n = 0; n < count; n += 1) failed = afterFailedRead(failed, failure(httpStatus), n * 10_000);
  return failed;
}

test('nine failed reads in a row are tolerated, and the tenth ends unknown with the last error', () => {
  assert.equal(givenUp(row(9, 503), failure(503), plenty), null);
  const end = givenUp(row(10, 503), failure(503), plenty);
  assert.equal(end?.type, 'OutcomeUnknown');
  assert.match(end?.message ?? '', /10 reads in a row failed.*GET: 503/);
});

test('a read after the total time is not made', () => {
  const over = { nowMs: 50, nextAtMs: 101, wholeEndsMs: 100 };
  assert.equal(givenUp(row(1, null), failure(null), over)?.type, 'OutcomeUnknown');
});

test('the total time is the tries plus two intervals, and at least thirty seconds', () => {
  assert.equal(wholeTimeEndsMs(1_000, 10_000, 30), 1_000 + 320_000);
  assert.equal(wholeTimeEndsMs(1_000, 200, 5), 1_000 + 30_000);
});

test('401 and 403 are tolerated for two minutes and then end as Refused', () => {
  const failed = row(12, 401);
  assert.equal(failed.inARow, 0);
  // Counted from the first refusal, and not from the newest.
  const late = { ...plenty, nowMs: 110_000 };
  assert.equal(givenUp(failed, failure(401), { ...late, nextAtMs: 120_000 }), null);
  assert.equal(givenUp(failed, failure(401), { ...late, nextAtMs: 120_001 })?.type, 'Refused');
});

test('a token that every worker was refused with is tolerated as long, although no worker takes a read then', () => {
  const lost = { ...failure(null), kind: 'not_taken', message: 'no worker took the read' } as const;
  let failed = row(1, 401);
  for (let n = 0; n < 12; n += 1) failed = afterFailedRead(failed, lost, 20_000);
  const times = { nowMs: 110_000, wholeEndsMs: 3_600_000 };
  assert.equal(givenUp(failed, lost, { ...times, nextAtMs: 120_000 }), null);
  const end = givenUp(failed, lost, { ...times, nextAtMs: 120_001 });
  assert.equal(end?.type, 'Refused');
  assert.match(end?.message ?? '', /no worker took the read, after the service rejected the token/);
  assert.equal(givenUp(row(10, 503), lost, { ...times, nextAtMs: 120_000 })?.type, 'OutcomeUnknown');
});

const { defaultPauseMs } = TIMING.pace;
const HELD: [what: string, read: ReadFailure, untilMs: number | null][] = [
  ['429', failure(429), defaultPauseMs],
  ['429 with Retry-After', { ...failure(429), retryAfterMs: 7_000 }, 7_000],
  ['503 with Retry-After', { ...failure(503), retryAfterMs: 7_000 }, 7_000],
  ['503 without Retry-After', failure(503), null],
  ['500 with Retry-After', { ...failure(500), retryAfterMs: 7_000 }, null],
  ['a worker that keeps a pause', { ...failure(null), kind: 'held_back', retryAfterMs: 40 }, 40],
  ['no connection', failure(null), null],
  ['401', failure(401), null],
];
for (const [what, read, untilMs] of HELD) {
  test(`a read that ends with ${what} ${untilMs === null ? 'counts as failed' : 'waits and does not count'}`, () => {
    assert.equal(heldBackUntilMs(read, 0), untilMs);
  });
}

test('a status is not held back', () => {
  assert.equal(heldBackUntilMs({ ok: true, status: 'running', state: 'in_progress' }, 0), null);
});
