/** When a status is read, and what the reads and hints of a long wait cost. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { POOLED_WAIT_ACTIVITY, QUERIES } from '../../../../src/contract/names.ts';
import type { OperationProgress } from '../../../../src/contract/operation.ts';
import type { RunInput, Waits } from '../../../../src/contract/run.ts';
import { definedFields } from '../../../../src/contract/plain-object.ts';
import { TIMING } from '../../../../src/contract/timing.ts';
import { backupServerId, deploySiteId } from '../../../../src/contract/ids.ts';
import { status } from '../../../support/fault-answers.ts';
import { fresh } from '../../../support/fresh.ts';
import { began, reads } from '../../../support/journal.ts';
import { FAILED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime, MOMENT_MS, type VirtualStack } from '../../stack/stack.ts';
import { BUILDING, latest, phaseOf } from './runs-that-wait.ts';

const RARE = { intervalMs: 1_800_000, tries: 2 };
const { earlyReadsMs, hintGapMs, unauthorizedPauseMs } = TIMING.poll;

/** A run that waits for its backup, which stays in progress. */
async function backingUp(stack: VirtualStack, backup: { intervalMs: number; tries: number }, input: RunInput = {}) {
  const { world, sandbox, start, until, forward } = stack;
  const serverId = fresh('s');
  sandbox.script({ server: serverId }, BUILDING);
  const run = start({ serverId, siteIds: [], backup, ...input });
  const backupId = await until('the backup', () => began(sandbox, 'backup', serverId)[0]?.began?.id);
  const operationId = backupServerId(serverId);
  await until('the wait', () => phaseOf(stack, operationId) === 'wait');
  await forward(MOMENT_MS);
  const readsMs = () => reads(sandbox, `/v1/backups/${backupId}`).map(({ at }) => Date.parse(at));
  return { serverId, run, backupId, operationId, readsMs, historyOf: () => world.server.find(operationId)!.history };
}

/** The history of a wait with this number of tries. */
async function historyOf(stack: VirtualStack, tries: number, waits?: Waits) {
  const input = definedFields({ waits });
  const { run, historyOf: history } = await backingUp(stack, { intervalMs: 15_000, tries }, input);
  assert.equal((await stack.result(run)).outcome, 'timed_out');
  return history();
}

describe('waiting', () => {
  test(
    'every poll costs eleven history events',
    inVirtualTime(async (stack) => {
      const history = await historyOf(stack, 20, 'loop');
      const timers = history.flatMap((it, index) => (it.kind === 'timerFired' ? [index] : []));
      const costs = timers.slice(1).map((index, before) => index - timers[before]!);
      assert.deepEqual(
        costs,
        Array.from({ length: 19 }, () => 11),
      );
    }),
  );

  test(
    'polls of a worker cost one activity in all, after the first one',
    inVirtualTime(async (stack) => {
      const history = await historyOf(stack, 20, 'pooled');
      const first = history.findIndex(({ kind }) => kind === 'timerFired');
      const last = history.findLastIndex(({ kind }) => kind === 'activityClosed');
      const [reads, pool] = [history.slice(first), history.slice(first, last + 1)];
      assert.equal(reads.filter(({ kind }) => kind === 'timerFired').length, 1);
      assert.deepEqual(
        pool.flatMap((it) => (it.kind === 'activityScheduled' ? [it.type] : [])),
        ['readBackup', POOLED_WAIT_ACTIVITY],
      );
    }),
  );

  test(
    'a run of fifty polls stays under seven hundred events in its longest history',
    inVirtualTime(async (stack) => {
      assert.ok((await historyOf(stack, 50)).length < 700);
    }),
  );

  test(
    'a hint triggers a read at once and uses no try',
    inVirtualTime(async (stack) => {
      const { world, sandbox, signal, result, forward } = stack;
      const { serverId, run, operationId, readsMs, historyOf: history } = await backingUp(stack, RARE);
      await forward(60_000);
      for (let hints = 1; hints <= RARE.tries; hints += 1) {
        const hintedMs = world.clock.nowMs;
        signal(operationId, 'hint');
        await forward(MOMENT_MS);
        assert.equal(readsMs().length, hints);
        assert.ok(readsMs().at(-1)! - hintedMs < MOMENT_MS);
        await forward(60_000);
      }
      sandbox.finish({ server: serverId }, 'completed');
      signal(operationId, 'hint');
      const { outcome, backup } = await result(run);
      assert.equal(outcome, 'completed');
      assert.equal(backup?.polls, RARE.tries + 1);
      assert.ok(!history().some((it) => it.kind === 'timerFired'), 'the interval elapsed');
    }),
  );

  test(
    'a hint that arrives before the wait begins is kept',
    inVirtualTime(async ({ world, sandbox, start, until, signal, result }) => {
      const serverId = fresh('s');
      sandbox.script({ server: serverId }, { durationMs: 0 });
      const run = start({ serverId, siteIds: [], backup: RARE });
      await until('the operation', () => world.server.find(backupServerId(serverId)));
      assert.equal(began(sandbox, 'backup', serverId).length, 0);
      signal(backupServerId(serverId), 'hint');
      const { outcome, backup } = await result(run);
      assert.deepEqual([outcome, backup?.polls], ['completed', 1]);
      assert.ok(Date.parse(backup?.endedAt ?? '') - Date.parse(backup?.acceptedAt ?? '') < 1_000);
    }),
  );

  test(
    'a flood of hints causes at most one read per second and twice the tries in total',
    inVirtualTime(async (stack) => {
      const { signal, forward, query, cancel, result } = stack;
      const { run, operationId, readsMs } = await backingUp(stack, RARE);
      for (let sent = 0; sent < 200; sent += 1) {
        signal(operationId, 'hint');
        await forward(50);
      }
      const { polls } = (await query<OperationProgress>(operationId, QUERIES.progress)).result;
      assert.equal(polls, 4, 'two reads per try');
      const gapsMs = readsMs().map((ms, index, all) => ms - (all[index - 1] ?? -Infinity));
      assert.equal(gapsMs.length, 4);
      assert.ok(
        gapsMs.every((ms) => ms >= hintGapMs),
        `${gapsMs.join(', ')} ms between the reads`,
      );
      cancel(run);
      assert.equal((await result(run)).outcome, 'cancelled');
    }),
  );

  for (const [what, times, pauseMs] of [
    ['a token refused once is used again at once', 1, 0],
    ['a refused token is read again after a pause', 2, unauthorizedPauseMs],
  ] as const) {
    test(
      `${what}, regardless of the interval`,
      inVirtualTime(async (stack) => {
        const { sandbox, signal, result } = stack;
        const { serverId, run, backupId, operationId, readsMs } = await backingUp(stack, RARE);
        sandbox.fault({ ...status(401), route: 'backup', target: backupId, times });
        sandbox.finish({ server: serverId }, 'completed');
        signal(operationId, 'hint');
        assert.equal((await result(run)).outcome, 'completed');
        assert.equal(readsMs().length, times + 1);
        const gapMs = readsMs()[times]! - readsMs()[times - 1]!;
        assert.ok(pauseMs <= gapMs && gapMs < pauseMs + 500, `${gapMs} ms`);
      }),
    );
  }

  test(
    'makes two early reads after a trigger if the interval is long',
    inVirtualTime(async (stack) => {
      const { sandbox, start, until, forward, result: resultOf } = stack;
      const siteId = siteAfter(sandbox, FAILED, BUILDING);
      const run = start({ siteIds: [siteId], deploy: { intervalMs: 600_000, tries: 2 } });
      await until('the wait', () => phaseOf(stack, deploySiteId(siteId)) === 'wait');
      const before = reads(sandbox, latest(siteId)).length;
      await until('the first early read', () => reads(sandbox, latest(siteId)).length > before);
      await forward(MOMENT_MS);
      sandbox.finish({ site: siteId }, 'completed');
      const result = await resultOf(run);
      assert.equal(result.deployments[0]?.evidence, 'transition');
      assert.equal(result.deployments[0]?.polls, 1 + earlyReadsMs.length, 'with the baseline');
      const afterMs = reads(sandbox, latest(siteId))
        .slice(before)
        .map(({ at }) => Date.parse(at) - Date.parse(result.deployments[0]?.acceptedAt ?? ''));
      assert.equal(afterMs.length, 2);
      assert.ok(
        earlyReadsMs.every((ms, index) => Math.abs(afterMs[index]! - ms) < 2 * MOMENT_MS),
        `${afterMs.join(', ')} ms after the trigger`,
      );
    }),
  );
});
