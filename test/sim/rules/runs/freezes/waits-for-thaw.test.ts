/** A run with --if-frozen wait: where it waits, for how long, what wakes it, and what it does then. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HISTORY_BUDGET } from '../../../../../src/contract/history-budget.ts';
import { backupServerId, deploySiteId } from '../../../../../src/contract/ids.ts';
import { QUERIES } from '../../../../../src/contract/names.ts';
import type { Explanation } from '../../../../../src/contract/waiting.ts';
import { fresh } from '../../../../support/fresh.ts';
import { posts, reads } from '../../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../../support/sites.ts';
import { freezeNow, thawNow } from '../../../stack/freeze-now.ts';
import { phasesOf } from '../../../stack/inspect.ts';
import { inVirtualTime, MOMENT_MS, type VirtualStack } from '../../../stack/stack.ts';
import { deployPosts, latest } from '../runs-that-wait.ts';
import { backupPosts, verdictOf } from '../verdict-of.ts';
import { isWaiting, sentMs, startWaiting } from './frozen-waits.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const minutesSince = (ms: number, { world }: VirtualStack) => (world.clock.nowMs - ms) / MINUTE;

describe('a run that waits for freezes', () => {
  test(
    'waits before its backup, goes on within a minute after the end, and reports what it waited for',
    inVirtualTime(async (stack) => {
      const { server } = stack.world;
      const freeze = freezeNow(server, { forMs: 2 * HOUR });
      const waiting = startWaiting(stack);
      await isWaiting(stack, waiting);
      assert.equal(backupPosts(stack, waiting.serverId), 0);
      for (const lockId of [backupServerId(waiting.serverId), deploySiteId(waiting.siteId)])
        assert.equal(server.find(lockId), undefined);
      const result = await stack.result(waiting.run);
      assert.deepEqual(verdictOf(result), ['completed', undefined]);
      const backupMs = Date.parse(posts(stack.sandbox, `/v1/servers/${waiting.serverId}/backups`)[0]!.at);
      const endMs = freeze.startedMs + 2 * HOUR;
      assert.ok(backupMs > endMs && backupMs < endMs + 2 * MINUTE, `${backupMs - endMs}`);
      const [held, ...others] = result.held;
      assert.deepEqual(others, []);
      const { from = '', to = null } = held ?? {};
      assert.deepEqual(held, { for: 'freeze', name: 'freeze:all', from, to, end: 'passed', by: 'ana', why: 'disks' });
      assert.ok(Math.abs(Date.parse(to ?? '') - endMs) < SECOND && Date.parse(from) - freeze.startedMs < SECOND);
      assert.deepEqual(
        phasesOf(waiting.run).map(({ phase }) => phase),
        ['frozen', 'checking', 'backup', 'deploy', 'done'],
      );
    }),
  );

  test(
    'tells what holds it, until when and why, and what to do',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server);
      const waiting = startWaiting(stack);
      await isWaiting(stack, waiting);
      await stack.forward(MOMENT_MS);
      const { sentence, waiting: data } = await stack.query<Explanation>(waiting.run.workflowId, QUERIES.why);
      assert.equal(
        sentence,
        `deployment of ${waiting.siteId}: frozen by "freeze:all" (set by "ana") until 2026-03-02 09:00:00 (UTC) ` +
          'because "disks": wait, or start again with --override-freeze freeze:all',
      );
      assert.equal(data?.kind, 'freeze');
      const page = await stack.query<{ currentDetails: string }>(
        waiting.run.workflowId,
        '__temporal_workflow_metadata',
      );
      assert.match(page.currentDetails, /\*\*frozen\*\*: .*frozen by `freeze:all` \(set by `ana`\).* because `disks`/);
      stack.cancel(waiting.run);
      await stack.result(waiting.run);
    }),
  );

  test(
    'reports a wrong target before it waits, and reads its targets once more afterwards',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server);
      const target = fresh('a');
      stack.sandbox.fault({ route: 'latest', target, answer: { kind: 'status', code: 422 } });
      const wrong = await stack.result(stack.start({ siteIds: [target], ifFrozen: 'wait' }));
      assert.deepEqual(verdictOf(wrong), ['not_started', 'Refused']);
      const waiting = startWaiting(stack);
      await isWaiting(stack, waiting);
      const before = reads(stack.sandbox, latest(waiting.siteId)).length;
      await stack.until('its backup', () => backupPosts(stack, waiting.serverId) > 0);
      assert.equal(reads(stack.sandbox, latest(waiting.siteId)).length, before + 1);
      await stack.result(waiting.run);
    }),
  );

  for (const [what, more, until, why] of [
    ['than it may wait', { freezeWaitMs: HOUR }, 2 * HOUR, /longer than --freeze-wait 1h allows$/],
    [
      'than it may deploy',
      { startDeploysWithinMs: HOUR },
      2 * HOUR,
      /it may begin only until 2026-03-02 09:00:00 \(UTC\)$/,
    ],
    ['than the 12 hours that it waits by default', {}, 12 * HOUR + MINUTE, /longer than --freeze-wait 12h allows$/],
  ] as const) {
    test(
      `ends Frozen at once if the freeze lasts longer ${what}`,
      inVirtualTime(async (stack) => {
        freezeNow(stack.world.server, { forMs: until });
        const startedMs = stack.world.clock.nowMs;
        const { run, serverId } = startWaiting(stack, more);
        const result = await stack.result(run);
        assert.deepEqual(verdictOf(result), ['not_started', 'Frozen']);
        assert.match(result.error?.message ?? '', why);
        assert.ok(minutesSince(startedMs, stack) < 1);
        assert.deepEqual([backupPosts(stack, serverId), result.held[0]?.end], [0, 'gave_up']);
      }),
    );
  }

  test(
    'ends Frozen at the next look if the freeze is extended for too long',
    inVirtualTime(async (stack) => {
      const { server } = stack.world;
      const first = freezeNow(server, { forMs: 30 * MINUTE });
      const waiting = startWaiting(stack, { freezeWaitMs: HOUR });
      await isWaiting(stack, waiting);
      server.terminate(first);
      freezeNow(server, { forMs: 3 * HOUR });
      const extendedMs = stack.world.clock.nowMs;
      const result = await stack.result(waiting.run);
      assert.deepEqual(verdictOf(result), ['not_started', 'Frozen']);
      assert.match(result.error?.message ?? '', /this is longer than --freeze-wait 1h allows$/);
      assert.ok(minutesSince(extendedMs, stack) < 6);
    }),
  );

  test(
    'ends Frozen after its wait if no end is known',
    inVirtualTime(async (stack) => {
      stack.startByHand('freeze', 'freeze:all', {
        scope: { kind: 'all' },
        until: new Date(stack.world.clock.nowMs + 3 * HOUR).toISOString(),
      });
      const startedMs = stack.world.clock.nowMs;
      const result = await stack.result(startWaiting(stack, { freezeWaitMs: HOUR }).run);
      assert.deepEqual(verdictOf(result), ['not_started', 'Frozen']);
      assert.ok(Math.abs(minutesSince(startedMs, stack) - 60) < 1, `${minutesSince(startedMs, stack)}`);
    }),
  );

  for (const [what, wake, least, most] of [
    ['is woken by a thaw', thawNow, 0, 2],
    ['looks by itself if it misses the thaw', terminated, 0, 7],
  ] as const) {
    test(
      `${what}, and goes on`,
      inVirtualTime(async (stack) => {
        const { server } = stack.world;
        freezeNow(server, { forMs: 11 * HOUR });
        const waiting = startWaiting(stack);
        await isWaiting(stack, waiting);
        await stack.forward(20 * MINUTE);
        const thawedMs = stack.world.clock.nowMs;
        await wake(server);
        const result = await stack.result(waiting.run);
        assert.deepEqual(verdictOf(result), ['completed', undefined]);
        const minutes = (Date.parse(result.backup?.startedAt ?? '') - thawedMs) / MINUTE;
        assert.ok(minutes > least && minutes < most, `${minutes}`);
      }),
    );
  }

  test(
    'says after a thaw that it is frozen no more, and when it goes on',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server);
      const waiting = startWaiting(stack);
      await isWaiting(stack, waiting);
      await thawNow(stack.world.server);
      await stack.forward(MOMENT_MS);
      const { sentence } = await stack.query<Explanation>(waiting.run.workflowId, QUERIES.why);
      assert.match(sentence, /frozen no more, looks again at 2026-.* \(UTC\): then continues$/);
      assert.deepEqual(verdictOf(await stack.result(waiting.run)), ['completed', undefined]);
    }),
  );

  test(
    'is woken once by a thaw of something else, and waits on',
    inVirtualTime(async (stack) => {
      const { server } = stack.world;
      freezeNow(server, { forMs: HOUR });
      freezeNow(server, { scope: { kind: 'site', id: 'other' }, forMs: HOUR });
      const waiting = startWaiting(stack);
      await isWaiting(stack, waiting);
      assert.deepEqual(await thawNow(server, { kind: 'site', id: 'other' }), [waiting.run.workflowId]);
      await stack.forward(10 * MINUTE);
      assert.equal(backupPosts(stack, waiting.serverId), 0);
      await stack.result(waiting.run);
      assert.equal(deployPosts(stack, waiting.siteId), 1);
    }),
  );

  test(
    'ends at once if it is cancelled, and requests nothing',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server);
      const waiting = startWaiting(stack);
      await isWaiting(stack, waiting);
      stack.cancel(waiting.run);
      const result = await stack.result(waiting.run);
      assert.deepEqual([result.error?.type, result.held[0]?.end], ['Cancelled', 'cancelled']);
      assert.deepEqual(
        result.deployments.map(({ outcome }) => outcome),
        ['not_started'],
      );
      assert.deepEqual([backupPosts(stack, waiting.serverId), deployPosts(stack, waiting.siteId)], [0, 0]);
    }),
  );

  test(
    'does not go on at the same second as 59 others',
    inVirtualTime(async (stack) => {
      const freeze = freezeNow(stack.world.server, { forMs: 30 * MINUTE });
      const siteIds = Array.from({ length: 60 }, () => siteAfter(stack.sandbox, FAILED, COMPLETED));
      const runs = siteIds.map((siteId) => stack.start({ siteIds: [siteId], ifFrozen: 'wait', startWithinMs: HOUR }));
      for (const run of runs) await stack.result(run);
      const seconds = siteIds.map((it) => Math.floor((sentMs(stack, it) - freeze.startedMs) / SECOND));
      const inOne = Math.max(...seconds.map((it) => seconds.filter((other) => other === it).length));
      assert.ok(
        seconds.every((it) => it >= 1_800),
        'none before the end',
      );
      assert.ok(inOne <= 10, `${inOne} in one second`);
    }),
  );

  test(
    'has room in its history for 31 days of looks and as many thaws as it counts',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server, { forMs: 30 * DAY });
      const waiting = startWaiting(stack, { freezeWaitMs: 31 * DAY });
      await isWaiting(stack, waiting);
      const before = waiting.run.history.length;
      await stack.forward(2 * DAY);
      const { maxThawLooks, eventsPerThawLook, maxEvents, signalsUntilEvents } = HISTORY_BUDGET;
      const looks = 12 + 47 * 2;
      assert.ok(
        waiting.run.history.length - before <= looks * eventsPerThawLook,
        `${waiting.run.history.length - before}`,
      );
      assert.ok(looks + 29 * 48 < maxThawLooks);
      assert.ok(maxThawLooks * eventsPerThawLook + signalsUntilEvents < maxEvents);
      await thawNow(stack.world.server);
      await stack.result(waiting.run);
    }),
  );
});

function terminated(server: VirtualStack['world']['server']): Promise<string[]> {
  server.terminate(server.find('freeze:all')!);
  return Promise.resolve([]);
}
