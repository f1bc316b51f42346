/** Backups that another party made and an event announced: which of them the next run adopts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failedBackupId } from '../../../../src/contract/ids.ts';
import { fresh } from '../../../support/fresh.ts';
import { began, posts } from '../../../support/journal.ts';
import { backupOutside } from '../../../support/sites.ts';
import { deliver, handled, type Delivery } from '../../stack/deliver-event.ts';
import { lockRequests } from '../../stack/inspect.ts';
import type { VirtualStack } from '../../stack/stack.ts';
import { announced, backingUp, RARE, readsOfBackup, soonOver, withEvents } from './events-in-flight.ts';

const HOUR_MS = 3_600_000;

/** Announces a backup of another party. */
async function announce(stack: VirtualStack, serverId: string, backupId: string, sent: Partial<Delivery> = {}) {
  const data = { server_id: serverId, backup_id: backupId };
  return handled(stack, deliver(stack, 'backup.started', data, { source: 'mapped', ...sent }));
}

const backUp = ({ start }: VirtualStack, serverId: string) => start({ serverId, siteIds: [], backup: RARE });

/** Which backup the next run of a server waits for. */
async function takenBy(stack: VirtualStack, serverId: string) {
  const run = backUp(stack, serverId);
  await stack.forward(60_000);
  stack.cancel(run);
  return (await stack.result(run)).backup?.backupId;
}

describe('foreign backups', () => {
  test(
    'the next run adopts a foreign backup announced by an event',
    withEvents(async (stack) => {
      const serverId = fresh('s');
      const backupId = backupOutside(stack.sandbox, serverId);
      assert.equal((await announce(stack, serverId, backupId)).shared, true);
      const run = backUp(stack, serverId);
      await stack.until('its first read', () => readsOfBackup(stack, backupId) === 1);
      stack.sandbox.finish({ server: serverId }, 'completed');
      deliver(stack, 'backup.completed', { backup_id: backupId });
      const { backup } = await soonOver(stack, run);
      assert.deepEqual([backup?.source, backup?.backupId, backup?.outcome], ['shared', backupId, 'completed']);
      assert.equal(posts(stack.sandbox, `/v1/servers/${serverId}/backups`).length, 0);
    }),
  );

  test(
    'a run makes its own backup if the announced one ended',
    withEvents(async (stack) => {
      const serverId = fresh('s');
      const ended = backupOutside(stack.sandbox, serverId);
      stack.sandbox.finish({ server: serverId }, 'completed');
      assert.equal((await announce(stack, serverId, ended)).shared, true);
      assert.notEqual(await takenBy(stack, serverId), ended);
      assert.equal(began(stack.sandbox, 'backup', serverId).length, 1);
    }),
  );

  for (const [what, source] of [
    ['an unverified sender', 'open'],
    ['a sender whose words and fields are guessed', 'panel'],
  ] as const) {
    test(
      `a run makes its own backup if the foreign one was announced by ${what}`,
      withEvents(async (stack) => {
        const serverId = fresh('s');
        const theirs = backupOutside(stack.sandbox, serverId);
        const data = { server_id: serverId, backup_id: theirs };
        assert.equal((await handled(stack, deliver(stack, 'backup.started', data, { source }))).shared, false);
        assert.notEqual(await takenBy(stack, serverId), theirs);
        assert.equal(began(stack.sandbox, 'backup', serverId).length, 1);
      }),
    );
  }

  test(
    'no run adopts a foreign backup that was reported failed',
    withEvents(async (stack) => {
      const serverId = fresh('s');
      const theirs = backupOutside(stack.sandbox, serverId);
      await announce(stack, serverId, theirs);
      deliver(stack, 'backup.failed', { backup_id: theirs }, { source: 'mapped' });
      await stack.until('the report', () => stack.world.server.find(failedBackupId(theirs)));
      assert.notEqual(await takenBy(stack, serverId), theirs);
      assert.equal(began(stack.sandbox, 'backup', serverId).length, 1);
    }),
  );

  test(
    'a run adopts the newer of two foreign backups, whichever was announced last',
    withEvents(async (stack) => {
      const serverId = fresh('s');
      const [old, newer] = [backupOutside(stack.sandbox, serverId), backupOutside(stack.sandbox, serverId)];
      await announce(stack, serverId, newer);
      const hourAgo = new Date(stack.world.clock.nowMs - HOUR_MS).toISOString();
      assert.equal((await announce(stack, serverId, old, { timestamp: hourAgo })).shared, false);
      assert.equal(await takenBy(stack, serverId), newer);
    }),
  );

  test(
    'a backup dated in the future does not count as newer than the next one',
    withEvents(async (stack) => {
      const serverId = fresh('s');
      const [old, newer] = [backupOutside(stack.sandbox, serverId), backupOutside(stack.sandbox, serverId)];
      await announce(stack, serverId, old, { timestamp: '2099-01-01T00:00:00Z' });
      assert.equal(announced(stack, serverId), old);
      await announce(stack, serverId, newer);
      assert.equal(await takenBy(stack, serverId), newer);
    }),
  );

  test(
    'a run takes the newer backup if its event came first, even if the clocks of sender and receiver are ahead',
    withEvents(async (stack) => {
      const serverId = fresh('s');
      const [old, newer] = [backupOutside(stack.sandbox, serverId), backupOutside(stack.sandbox, serverId)];
      const aheadMs = 3 * HOUR_MS;
      const sentAt = (ms: number) => new Date(stack.world.clock.nowMs + aheadMs + ms).toISOString();
      await announce(stack, serverId, newer, { timestamp: sentAt(0), aheadMs });
      assert.equal((await announce(stack, serverId, old, { timestamp: sentAt(-60_000), aheadMs })).shared, false);
      assert.equal(announced(stack, serverId), newer);
    }),
  );

  for (const [what, sent] of [
    ['without a time', { timestamp: null }],
    ['with a time of the same clock', {}],
  ] as const) {
    test(
      `the age of a foreign backup counts from its event ${what} even if the receiver's clock is ahead`,
      withEvents(async (stack) => {
        const serverId = fresh('s');
        const backupId = backupOutside(stack.sandbox, serverId);
        const announcedAt = new Date(stack.world.clock.nowMs).toISOString();
        await announce(stack, serverId, backupId, { ...sent, aheadMs: 3 * HOUR_MS });
        const run = stack.start({
          serverId,
          siteIds: [fresh('a')],
          backup: { ...RARE, maxAgeAtDeployMs: HOUR_MS / 2 },
        });
        await stack.forward(HOUR_MS / 2);
        stack.sandbox.finish({ server: serverId }, 'completed');
        const { error, backup } = await stack.result(run);
        assert.deepEqual([backup?.source, backup?.startedAt, error?.type], ['shared', announcedAt, 'TooLate']);
      }),
    );
  }
});

test(
  'a backup of ours named by an event is shared through its lock',
  withEvents(async (stack) => {
    const { serverId, run: first, backupId, operationId } = await backingUp(stack);
    await announce(stack, serverId, backupId);
    const second = backUp(stack, serverId);
    await stack.until('the queue', () => lockRequests(stack.world.server.find(operationId)) === 1);
    stack.sandbox.finish({ server: serverId }, 'completed');
    deliver(stack, 'backup.completed', { backup_id: backupId });
    assert.equal((await soonOver(stack, first)).outcome, 'completed');
    assert.equal((await soonOver(stack, second)).backup?.source, 'shared');
    assert.equal(began(stack.sandbox, 'backup', serverId).length, 1);
  }),
);
