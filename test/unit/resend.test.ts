import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  hasNoGaps,
  lastingTrace,
  recordOutage,
  recordRead,
  startReadCoverage,
  whyNotResent,
  type Watched,
} from '../../src/rules/resend.ts';
import { NO_OBSERVATIONS, type Trace } from '../../src/rules/verdict.ts';

const INPUT = { onAmbiguous: 'resend', intervalMs: 10_000 } as const;
const COVERED = recordRead(startReadCoverage(0), 1_000);
const TRACE: Trace = {
  reading: { ok: true, status: 'failed', state: 'failed', ids: {} },
  by: 'changed',
  doubt: 'taken_back',
};

const nothingSeen: Watched = { seen: NO_OBSERVATIONS, coverage: COVERED, trace: null };

test('a deployment in doubt is requested once more if reads without a gap show that nothing came of it', () => {
  assert.equal(whyNotResent(nothingSeen, { ambiguities: 1, isRefused: false }, INPUT, 2_000), null);
  assert.match(whyNotResent(nothingSeen, { ambiguities: 1, isRefused: true }, INPUT, 2_000) ?? '', /refused another/);
  const answers: [Watched, number, 'resend' | 'stop', RegExp][] = [
    [nothingSeen, 2, 'resend', /sent twice/],
    [nothingSeen, 1, 'stop', /must not send it again/],
    [{ ...nothingSeen, coverage: startReadCoverage(0) }, 1, 'resend', /not read for a while/],
    [{ ...nothingSeen, trace: TRACE }, 1, 'resend', /took the change back/],
    [{ ...nothingSeen, seen: { ...NO_OBSERVATIONS, kept: { inProgress: false } } }, 1, 'resend', /kept the id/],
  ];
  for (const [watched, ambiguities, onAmbiguous, why] of answers)
    assert.match(whyNotResent(watched, { ambiguities, isRefused: false }, { ...INPUT, onAmbiguous }, 2_000) ?? '', why);
});

test('a trace that a later read took back lasts only if a deployment was seen in progress', () => {
  assert.equal(lastingTrace({ ...nothingSeen, trace: TRACE }), null);
  assert.equal(lastingTrace({ ...nothingSeen, trace: { ...TRACE, doubt: null } })?.by, 'changed');
  const inProgress = { ...NO_OBSERVATIONS, inProgress: true };
  assert.equal(lastingTrace({ ...nothingSeen, seen: inProgress, trace: TRACE }), TRACE);
});

test('reads have no gaps if one follows the POST within five seconds and none is late by more than five seconds', () => {
  const reads = (...atMs: number[]) => atMs.reduce((coverage, ms) => recordRead(coverage, ms), startReadCoverage(0));
  assert.ok(hasNoGaps(reads(1_000, 3_000, 10_000, 20_000), 10_000, 25_000));
  assert.ok(!hasNoGaps(reads(6_000, 10_000, 20_000), 10_000, 25_000), 'too late after the POST');
  assert.ok(!hasNoGaps(reads(1_000, 20_000), 10_000, 25_000), 'a gap');
  assert.ok(!hasNoGaps(reads(1_000, 10_000), 10_000, 30_000), 'no recent read');
  assert.ok(!hasNoGaps(startReadCoverage(0), 10_000, 1_000), 'no read at all');
  assert.ok(!hasNoGaps(recordRead(recordOutage(reads(1_000)), 2_000), 10_000, 3_000), 'an outage');
});
