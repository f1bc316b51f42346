import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ReadFailure, ReadResult } from '../../src/contract/activities.ts';
import type { WaitingForRead } from '../../src/contract/waiting.ts';
import { createPollSchedule } from '../../src/rules/poll-schedule.ts';
import {
  beginPolling,
  nextRead,
  absorb,
  assumeAllAnswered,
  beginPooled,
  isForOthers,
} from '../../src/rules/poll-state.ts';
import { estimateReads, readsNow } from '../../src/client/runs/recorded-wait.ts';

const T0 = Date.parse('2026-11-22T01:06:00Z');
const INTERVAL_MS = 10_000;
const BUILDING: ReadResult = { ok: true, status: 'building', state: 'in_progress' };
const COMPLETED: ReadResult = { ok: true, status: 'completed', state: 'completed' };
const failed = (httpStatus: number | null): ReadFailure => ({
  ...{ ok: false, kind: httpStatus === null ? 'network' : 'http', httpStatus, isJson: true },
  ...{ retryAfterMs: null, message: String(httpStatus) },
  ...(httpStatus === null ? { ofThisWorker: true } : {}),
});

const begun = (tries: number) =>
  beginPooled(beginPolling({ schedule: createPollSchedule(T0, INTERVAL_MS), tries }), 'queued');

describe('a pooled wait', () => {
  test('keeps a status in progress, with its time', () => {
    const after = absorb(3, begun(3), BUILDING, { nowMs: T0 + INTERVAL_MS, isTry: true });
    assert.equal(after?.polls, 1);
    assert.equal(after.lastStatus, 'building');
    assert.equal(after.lastReadAt, '2026-11-22T01:06:10.000Z');
    assert.equal(nextRead(after.state).atMs, T0 + 2 * INTERVAL_MS);
  });

  test('gives an answer with another id to the workflow, which may show that it is about another deployment', () => {
    const at = { nowMs: T0 + INTERVAL_MS, isTry: true };
    const { state } = begun(3);
    const begunWith = (id: string) => beginPooled(state, 'queued', { id });
    assert.deepEqual(absorb(3, begunWith('2'), { ...BUILDING, ids: { id: '2' } }, at)?.ids, { id: '2' });
    assert.equal(absorb(3, begunWith('2'), { ...BUILDING, ids: { id: '1' } }, at), null);
    assert.equal(absorb(3, begunWith('2'), BUILDING, at), null);
    assert.equal(absorb(3, begun(3), { ...BUILDING, ids: { id: '2' } }, at), null);
  });

  test('gives any other status to the workflow', () => {
    assert.equal(absorb(3, begun(3), COMPLETED, { nowMs: T0 + INTERVAL_MS, isTry: true }), null);
  });

  test('gives the last try to the workflow, whatever it shows', () => {
    const first = absorb(2, begun(2), BUILDING, { nowMs: T0 + INTERVAL_MS, isTry: true })!;
    assert.equal(absorb(2, first, BUILDING, { nowMs: T0 + 2 * INTERVAL_MS, isTry: true }), null);
  });

  test('keeps failed reads, and gives the tenth in a row to the workflow', () => {
    let progress = begun(30);
    for (let n = 1; n <= 9; n += 1)
      progress = absorb(30, progress, failed(502), { nowMs: T0 + n * INTERVAL_MS, isTry: true })!;
    assert.equal(progress.polls, 0);
    assert.equal(progress.state.made, 0);
    assert.equal(absorb(30, progress, failed(502), { nowMs: T0 + 10 * INTERVAL_MS, isTry: true }), null);
  });

  test('leaves a read that failed because of its worker to another one, once', () => {
    assert.equal(isForOthers(begun(3), failed(null)), true);
    assert.equal(isForOthers({ ...begun(3), isLeftToOthers: true }, failed(null)), false);
    assert.equal(isForOthers(begun(3), failed(502)), false);
  });

  test('is assumed to have made the reads that were due, however many of them it really made before', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(39), fc.nat(600_000), (tries, made, laterMs) => {
        let progress = begun(tries);
        for (let n = 1; n <= Math.min(made, tries - 1); n += 1)
          progress = absorb(tries, progress, BUILDING, { nowMs: T0 + n * INTERVAL_MS, isTry: true })!;
        const nowMs = T0 + progress.polls * INTERVAL_MS + laterMs;
        const { polls, state } = assumeAllAnswered(progress, tries, nowMs);
        assert.equal(polls, Math.min(tries, Math.floor((nowMs - T0) / INTERVAL_MS)));
        assert.equal(state.made, polls);
      }),
    );
  });

  const waiting: WaitingForRead = {
    kind: 'deployment',
    try: 1,
    tries: 30,
    lastStatus: 'queued',
    lastReadAt: null,
    nextReadAt: new Date(T0 + INTERVAL_MS).toISOString(),
    pooled: { everyMs: INTERVAL_MS },
  };

  test('is shown on its beat until its worker has reported', () => {
    const { kind, tries, lastStatus, lastReadAt, nextReadAt } = waiting;
    const shown = { kind, try: 1, tries, lastStatus, lastReadAt, nextReadAt };
    assert.deepEqual(estimateReads(waiting, T0), shown);
    assert.deepEqual(estimateReads(waiting, T0 + 2.5 * INTERVAL_MS), {
      ...shown,
      try: 3,
      nextReadAt: '2026-11-22T01:06:30.000Z',
    });
  });

  test('is shown with the try, status and read of now, although its workflow knows only where it began', () => {
    const progress = absorb(30, begun(30), BUILDING, { nowMs: T0 + INTERVAL_MS, isTry: true })!;
    assert.deepEqual(readsNow(waiting, progress, T0 + 6.5 * INTERVAL_MS), {
      ...{ kind: 'deployment', try: 7, tries: 30, lastStatus: 'building', lastReadAt: '2026-11-22T01:06:10.000Z' },
      nextReadAt: '2026-11-22T01:07:10.000Z',
    });
  });
});
