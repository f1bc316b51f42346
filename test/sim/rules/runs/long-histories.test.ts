/** Temporal terminates a workflow at its limit of events, and a lock would then be free under a live deployment. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HISTORY_BUDGET } from '../../../../src/contract/history-budget.ts';
import { reads } from '../../../support/journal.ts';
import { status } from '../../../support/fault-answers.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import { building, deployPosts, latest } from './runs-that-wait.ts';
import { verdictOf } from './verdict-of.ts';

const { eventsPerRead, sparesFromEvents } = HISTORY_BUDGET;
const SECOND = 1_000;
const HOUR = 3_600_000;

describe('a workflow with a long history', () => {
  test(
    'an operation whose reads are held back for hours then reads once in an interval, and sees its end',
    inVirtualTime(async (stack) => {
      const { sandbox, until, forward, world, result } = stack;
      const intervalMs = 30 * SECOND;
      const { siteId, operationId, run } = await building(stack, { deploy: { tries: 2_000, intervalMs } });
      sandbox.fault({ ...status(429, '1'), route: 'latest', target: siteId, times: 1_200 });
      const operation = world.server.find(operationId)!;
      await until('a long history', () => operation.history.length > sparesFromEvents + eventsPerRead);
      const before = reads(sandbox, latest(siteId)).length;
      await forward(20 * intervalMs);
      const made = reads(sandbox, latest(siteId)).length - before;
      assert.ok(made >= 19 && made <= 21, `${made} reads`);
      sandbox.finish({ site: siteId }, 'completed');
      assert.deepEqual(verdictOf(await result(run)), ['completed', undefined]);
    }),
  );

  test(
    'a run whose reads before its backup are held back reads the rest of its targets once, and waits no longer',
    inVirtualTime(async ({ sandbox, start, until }) => {
      const siteIds = Array.from({ length: 100 }, () => siteAfter(sandbox, FAILED, COMPLETED));
      sandbox.fault({ ...status(429, '1'), route: 'latest', times: 10_000 });
      const run = start({ siteIds });
      const last = latest(siteIds.at(-1)!);
      await until('the first operation', () => run.history.some(({ kind }) => /child/i.test(kind)));
      assert.equal(reads(sandbox, last).length, 1);
      assert.ok(run.history.length < 1.2 * sparesFromEvents, `${run.history.length} events`);
    }),
  );

  test(
    'a run that waits half a day for each of two sites then looks at a lock every ten minutes',
    inVirtualTime(async (stack) => {
      const { start, result } = stack;
      const rarely = { deploy: { tries: 200, intervalMs: HOUR } };
      const first = await building(stack, rarely);
      const second = await building(stack, rarely);
      const siteIds = [first.siteId, second.siteId];
      const run = start({ siteIds, keepGoing: true, ifBusy: 'wait', busyTimeoutMs: 12 * HOUR });
      assert.deepEqual(verdictOf(await result(run)), ['not_started', 'Busy']);
      assert.ok(run.history.length < 1.2 * sparesFromEvents, `${run.history.length} events`);
      assert.equal(deployPosts(stack, second.siteId), 1);
    }),
  );
});
