import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReadFailure } from '../../src/contract/run.ts';
import { afterFailedRead, givenUp, NO_FAILED_READS, wholeTimeEndsMs } from '../../src/workflows/rules/read-failures.ts';

const failure = (httpStatus: number | null): ReadFailure => ({
  ok: false,
  kind: httpStatus === null ? 'network' : 'http',
  httpStatus,
  retryAfterMs: null,
  message: `GET: ${httpStatus}`,
});

const plenty = { nowMs: 0, nextAtMs: 1, wholeEndsMs: 1e9 };

function row(count: number, httpStatus: number | null) {
  let failed = NO_FAILED_READS;
  for (let n = 0; n < count; n += 1) failed = afterFailedRead(failed, failure(httpStatus), n * 10_000);
  return failed;
}

test('nine failed reads in a row are borne, the tenth ends unknown with the last error', () => {
  assert.equal(givenUp(row(9, 503), failure(503), plenty), null);
  const end = givenUp(row(10, 503), failure(503), plenty);
  assert.equal(end?.type, 'OutcomeUnknown');
  assert.match(end?.message ?? '', /10 reads in a row failed.*GET: 503/);
});

test('a read that would come after the whole time is not made', () => {
  const over = { nowMs: 50, nextAtMs: 101, wholeEndsMs: 100 };
  assert.equal(givenUp(row(1, null), failure(null), over)?.type, 'OutcomeUnknown');
});

test('the whole time is the tries and two more intervals, at least thirty seconds', () => {
  assert.equal(wholeTimeEndsMs(1_000, 10_000, 30), 1_000 + 320_000);
  assert.equal(wholeTimeEndsMs(1_000, 200, 5), 1_000 + 30_000);
});

test('401 and 403 are borne for two minutes, and then are Refused', () => {
  const failed = row(12, 401);
  assert.equal(failed.inARow, 0);
  assert.equal(givenUp(failed, failure(401), { ...plenty, nextAtMs: 120_000 }), null);
  assert.equal(givenUp(failed, failure(401), { ...plenty, nextAtMs: 120_001 })?.type, 'Refused');
});
