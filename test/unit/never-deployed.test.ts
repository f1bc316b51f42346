import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReadResult } from '../../src/contract/activities.ts';
import type { AdmissionRead } from '../../src/contract/operation.ts';
import { admissionRead, watchForNeverDeployed } from '../../src/rules/never-deployed.ts';

const failure = (httpStatus: number | null, isJson: boolean): ReadResult => ({
  ok: false,
  kind: httpStatus === null ? 'network' : 'http',
  httpStatus,
  isJson,
  retryAfterMs: null,
  message: '',
});
const NONE = failure(404, true);
const BALANCER = failure(404, false);
const STATUS: ReadResult = { ok: true, status: 'building', state: 'in_progress' };

const provenBy = (earlier: AdmissionRead, reads: ReadResult[]) => {
  const watched = watchForNeverDeployed(earlier);
  return reads.map((read) => watched.isProvenBy(read)).at(-1);
};

test('a site was never deployed if three reads in a row return a 404 in JSON', () => {
  assert.equal(provenBy('failed', [NONE, NONE]), false);
  assert.equal(provenBy('failed', [NONE, NONE, NONE]), true);
  assert.equal(provenBy('not_deployed', [NONE, NONE]), true);
});

test('a 404 that is not JSON, or any other failure, starts the count again', () => {
  for (const other of [BALANCER, failure(500, true), failure(null, false)]) {
    assert.equal(provenBy('failed', [NONE, NONE, other, NONE, NONE]), false);
  }
  assert.equal(provenBy('failed', [BALANCER, BALANCER, BALANCER, BALANCER]), false);
});

test('no 404 proves it once this run has read a status', () => {
  assert.equal(provenBy('status', [NONE, NONE, NONE, NONE]), false);
  assert.equal(provenBy('failed', [STATUS, NONE, NONE, NONE, NONE]), false);
});

test('the read of the admission counts by what it shows', () => {
  assert.deepEqual([STATUS, NONE, BALANCER].map(admissionRead), ['status', 'not_deployed', 'failed']);
});
