/** Whole waits, from the first read to the end, with any answers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ReadFailure, ReadResult } from '../../src/contract/activities.ts';
import { HISTORY_BUDGET } from '../../src/contract/history-budget.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { createPollSchedule } from '../../src/rules/poll-schedule.ts';
import type { PollState } from '../../src/contract/polling.ts';
import { resumeAfterOutage, afterRead, beginPolling, nextRead, type PollPlan } from '../../src/rules/poll-state.ts';
import { heldBackUntilMs } from '../../src/rules/read-failures.ts';

const T0 = 1_000_000;
const { earlyReadsMs, minWholeMs } = TIMING.poll;
/** No wait makes more. */
const LIMIT = 10_000;

const BUILDING: ReadResult = { ok: true, status: 'building', state: 'in_progress' };

const failure = (httpStatus: number | null, retryAfterMs: number | null): ReadFailure => ({
  ok: false,
  kind: httpStatus === null ? 'network' : 'http',
  httpStatus,
  isJson: true,
  retryAfterMs,
  message: String(httpStatus),
});

const failed = fc
  .tuple(fc.constantFrom(null, 401, 404, 429, 500, 503), fc.constantFrom(null, 0, 1_000, 7_000, 60_000))
  .map(([httpStatus, retryAfterMs]) => failure(httpStatus, httpStatus === null ? null : retryAfterMs));

const answered = fc.constant(BUILDING);
const answers = fc.array(
  fc.record({
    read: fc.oneof({ weight: 3, arbitrary: answered }, { weight: 1, arbitrary: failed }),
    /** How long after it was due the answer comes. */
    afterMs: fc.oneof(fc.nat(900), fc.nat(900), fc.nat(100_000)),
    /** Whether a hint came first. */
    isHinted: fc.boolean(),
  }),
  { minLength: 1, maxLength: 40 },
);

const plan = fc
  .record({ intervalMs: fc.constantFrom(300, 1_000, 10_000, 60_000), tries: fc.integer({ min: 1, max: 30 }) })
  .map(({ intervalMs, tries }): PollPlan => ({
    schedule: createPollSchedule(T0, intervalMs, { earlyMs: earlyReadsMs }),
    tries,
  }));

/** A refused token is tried again soon, because it may be replaced. */
const isTokenRetry = ({ httpStatus }: ReadFailure): boolean => httpStatus === 401;

interface Made {
  dueMs: number;
  endedMs: number;
  isTry: boolean;
  read: ReadResult;
  before: PollState;
  after: PollState;
}

type Answer = { read: ReadResult; afterMs: number; isHinted: boolean };

/** Answers come again from the first one when they are used up. @returns every read, and why the wait ended */
function wait(of: PollPlan, given: readonly Answer[]) {
  const made: Made[] = [];
  let state = beginPolling(of);
  let nowMs = T0;
  for (let index = 0; index < LIMIT; index += 1) {
    const { read, afterMs, isHinted } = given[index % given.length]!;
    const due = nextRead(state);
    const dueMs = isHinted ? nowMs : due.atMs;
    const isTry = due.isTry && !isHinted;
    nowMs = Math.max(nowMs, dueMs) + afterMs + (isHinted ? TIMING.poll.hintGapMs : 0);
    const { state: after, end } = afterRead(of, state, read, { nowMs, isTry });
    made.push({ dueMs, endedMs: nowMs, isTry, read, before: state, after });
    state = after;
    if (end !== null) return { made, end };
  }
  throw new Error('the wait does not end');
}

const holds = (
  check: (of: PollPlan, played: ReturnType<typeof wait>) => void,
  given: fc.Arbitrary<Answer[]> = answers,
) => fc.assert(fc.property(plan, given, (of, list) => check(of, wait(of, list))));

describe('a whole wait', () => {
  test('ends after exactly its tries if every try is answered, however late', () => {
    const all = answers.map((list) => list.map((it) => ({ ...it, read: BUILDING, isHinted: false })));
    holds(({ tries }, { made, end }) => {
      assert.equal(end, 'exhausted');
      assert.equal(made.filter(({ isTry }) => isTry).length, tries);
      assert.ok(made.at(-1)!.isTry, 'it reads once more after the last try');
    }, all);
  });

  test('counts answered tries only, and never more than it has', () => {
    // With hints alone, no read would be due.
    const some = answers.map((list) => [...list, { read: BUILDING, afterMs: 10, isHinted: false }]);
    holds(({ tries }, { made }) => {
      for (const { before, after, isTry, read } of made) {
        assert.equal(after.made - before.made, isTry && read.ok ? 1 : 0);
        assert.ok(after.made <= tries);
      }
    }, some);
  });

  test('makes no read before a pause that the service asked for is over', () => {
    const some = answers.map((list) => [...list, { read: BUILDING, afterMs: 10, isHinted: false }]);
    holds((_of, { made }) => {
      for (const { read, endedMs, after } of made.slice(0, -1)) {
        if (read.ok || isTokenRetry(read)) continue;
        const untilMs = heldBackUntilMs(read, endedMs) ?? endedMs + (read.retryAfterMs ?? 0);
        assert.ok(nextRead(after).atMs >= untilMs, `${nextRead(after).atMs} < ${untilMs}`);
      }
    }, some);
  });

  test('keeps every try at a multiple of the interval, unless a rate limit moves it', () => {
    holds(
      ({ schedule: { originMs, intervalMs } }, { made }) => {
        for (const { before, isTry, dueMs } of made)
          if (isTry && before.schedule.heldTryAtMs === null) assert.equal((dueMs - originMs) % intervalMs, 0);
      },
      answers.map((list) => list.map((it) => ({ ...it, isHinted: false }))),
    );
  });

  test('gives up on reads that fail no later than its whole time and one pause, and at once after ten in a row', () => {
    const all = fc
      .array(failed, { minLength: 1, maxLength: 10 })
      .map((list) => list.map((read) => ({ read, afterMs: 10, isHinted: false })));
    holds(({ schedule: { intervalMs }, tries }, { made, end }) => {
      assert.ok(end !== null && end !== 'exhausted');
      const wholeMs = Math.max((tries + 2) * intervalMs, minWholeMs);
      const last = made.at(-1)!;
      assert.ok(last.dueMs <= T0 + wholeMs + intervalMs, `${last.dueMs - T0} of ${wholeMs}`);
      assert.ok(made.every(({ before }) => before.failed.inARow < 10));
    }, all);
  });
});

test('a wait whose time ran out in an outage may fail some reads after it, but not after every one of many outages', () => {
  const { maxGraces, readsPerGrace } = HISTORY_BUDGET;
  const intervalMs = 60_000;
  let state = beginPolling({ schedule: createPollSchedule(T0, intervalMs), tries: 1 });
  const untilOver = Array.from({ length: maxGraces + 1 }, () => {
    const nowMs = state.wholeEndsMs + 600_000;
    state = resumeAfterOutage(state, nowMs, 600_000 - 1);
    return Math.max(0, state.wholeEndsMs - nowMs);
  });
  assert.deepEqual(untilOver, [...Array.from({ length: maxGraces }, () => readsPerGrace * intervalMs), 0]);
});

test('a read that no worker took after a rejected token is made again as soon as one of the token itself', () => {
  const wait = { schedule: createPollSchedule(T0, 300_000), tries: 10 };
  const lost: ReadFailure = { ...failure(null, null), kind: 'not_taken' };
  const at = (nowMs: number, isTry: boolean) => ({ nowMs: T0 + nowMs, isTry });
  const refused = afterRead(wait, beginPolling(wait), failure(401, null), at(300_000, true)).state;
  const { state, end } = afterRead(wait, refused, lost, at(338_000, false));
  assert.equal(end, null);
  assert.equal(nextRead(state).atMs, T0 + 338_000 + TIMING.poll.unauthorizedPauseMs);
});
