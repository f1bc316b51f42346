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

test('a token that every worker was refused with ends as Refused, although no worker takes the last read', () => {
  const lost = { ...failure(null), kind: 'not_taken', message: 'no worker took the read' } as const;
  const over = { nowMs: 50_000, nextAtMs: 60_000, wholeEndsMs: 55_000 };
  const end = givenUp(afterFailedRead(row(1, 401), lost, 50_000), lost, over);
  assert.equal(end?.type, 'Refused');
  assert.match(end?.message ?? '', /no worker took the read, after the service rejected the token/);
  assert.equal(givenUp(afterFailedRead(row(1, 503), lost, 50_000), lost, over)?.type, 'OutcomeUnknown');
  assert.equal(givenUp(row(1, 401), failure(503), over)?.type, 'OutcomeUnknown');
});

const { defaultHoldMs } = TIMING.pace;
const HELD: [what: string, read: ReadFailure, untilMs: number | null][] = [
  ['429', failure(429), defaultHoldMs],
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
