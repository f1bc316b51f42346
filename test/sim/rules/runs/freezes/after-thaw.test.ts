/** What a run does once a freeze has ended: the backup that it relies on, and the order of its sites. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deploySiteId } from '../../../../../src/contract/ids.ts';
import { TIMING } from '../../../../../src/contract/timing.ts';
import { fresh } from '../../../../support/fresh.ts';
import { began } from '../../../../support/journal.ts';
import { COMPLETED, FAILED } from '../../../../support/sites.ts';
import { freezeNow } from '../../../stack/freeze-now.ts';
import { inVirtualTime, type StackOptions, type VirtualStack } from '../../../stack/stack.ts';
import { deployPosts } from '../runs-that-wait.ts';
import { backupPosts, verdictOf } from '../verdict-of.ts';
import { isWaiting, sentMs, startWaiting } from './frozen-waits.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('after a freeze, a run', () => {
  for (const [what, forMs, more, backups] of [
    ['makes a new backup after a long freeze that began while the first one was made', HOUR, {}, 2],
    ['uses its backup after a short one', 5 * MINUTE, {}, 1],
    [
      'makes a new backup after a short one that outlasts --max-backup-age-at-deploy',
      12 * MINUTE,
      { backup: { maxAgeAtDeployMs: 10 * MINUTE } },
      2,
    ],
    [
      'makes a new backup if its own is too old for the deployment, whatever --max-backup-age allows',
      HOUR,
      { backup: { maxAgeMs: 2 * HOUR, maxAgeAtDeployMs: HOUR / 2 } },
      2,
    ],
    ['uses a backup that --max-backup-age allows', HOUR, { backup: { maxAgeMs: 2 * HOUR } }, 1],
  ] as const) {
    test(
      `${what}, and holds no lock meanwhile`,
      inVirtualTime(async (stack) => {
        const { server } = stack.world;
        const serverId = fresh('s');
        stack.sandbox.script({ server: serverId }, { durationMs: 2 * MINUTE, ends: 'completed' }, COMPLETED);
        const waiting = startWaiting(stack, { serverId, ...more });
        await stack.forward(MINUTE);
        freezeNow(server, { forMs });
        await isWaiting(stack, waiting);
        const operation = server.find(deploySiteId(waiting.siteId));
        assert.ok(operation !== undefined && operation.closedMs !== null);
        const result = await stack.result(waiting.run);
        assert.deepEqual(verdictOf(result), ['completed', undefined]);
        assert.deepEqual([backupPosts(stack, serverId), deployPosts(stack, waiting.siteId)], [backups, 1]);
        const keys = began(stack.sandbox, 'backup', serverId).map(({ began: it }) => it?.id);
        assert.equal(result.backup?.backupId, keys.at(-1));
      }),
    );
  }

  test(
    'deploys nothing if the new backup fails, also with --keep-going',
    inVirtualTime(async (stack) => {
      const serverId = fresh('s');
      stack.sandbox.script({ server: serverId }, { durationMs: 2 * MINUTE, ends: 'completed' }, FAILED);
      const siteIds = [fresh('a'), fresh('a')];
      const run = stack.start({ serverId, siteIds, ifFrozen: 'wait', keepGoing: true });
      await stack.forward(MINUTE);
      freezeNow(stack.world.server);
      const result = await stack.result(run);
      assert.deepEqual(verdictOf(result), ['failed', 'BackupFailed']);
      assert.deepEqual(
        siteIds.map((it) => deployPosts(stack, it)),
        [0, 0],
      );
    }),
  );

  test(
    'waits for a frozen site in the middle, and deploys the others in their order',
    inVirtualTime(async (stack) => {
      const siteIds = [fresh('a'), fresh('a'), fresh('a')];
      freezeNow(stack.world.server, { scope: { kind: 'site', id: siteIds[1]! } });
      const result = await stack.result(stack.start({ siteIds, ifFrozen: 'wait' }));
      assert.deepEqual(verdictOf(result), ['completed', undefined]);
      const sent = siteIds.map((it) => sentMs(stack, it));
      assert.ok(sent[0]! < sent[1]! && sent[1]! < sent[2]!, sent.join());
      assert.ok(sent[1]! - sent[0]! > 50 * MINUTE);
    }),
  );

  test(
    'waits for a freeze of backups as well',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server, { backups: true });
      const serverId = fresh('s');
      const result = await stack.result(stack.start({ serverId, ifFrozen: 'wait' }));
      assert.deepEqual([verdictOf(result), result.held.length], [['completed', undefined], 1]);
    }),
  );
});

describe('after a wait, a run that no worker can answer', () => {
  test('is not started, and is no defect', async () => {
    let lost = 0;
    let lose = (): void => undefined;
    const gate: StackOptions['gate'] = {
      pass(it, goOn) {
        goOn();
        if (it.kind === 'activity' && it.type === 'describeWorker') lose();
      },
    };
    const body = async (stack: VirtualStack) => {
      freezeNow(stack.world.server);
      const waiting = startWaiting(stack);
      await isWaiting(stack, waiting);
      lose = () => {
        lost += 1;
        stack.world.restartWorkers(1_000);
      };
      // The freeze ends by itself.
      const { outcome, error } = await stack.result(waiting.run);
      assert.deepEqual([outcome, error?.type], ['not_started', 'Refused'], error?.message);
      assert.deepEqual([lost, deployPosts(stack, waiting.siteId)], [TIMING.lookup.describeWorkerAttempts, 0]);
    };
    await inVirtualTime(body, { gate })();
  });
});
