/** Events that may end a wait: only after a read, and only if the service does not contradict them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SIGNALS } from '../../../../src/contract/names.ts';
import { fresh } from '../../../support/fresh.ts';
import { deliver } from '../../stack/deliver-event.ts';
import { MOMENT_MS } from '../../stack/stack.ts';
import { backingUp, deploying, RARE, readsOfBackup, soonOver, withEvents } from './events-in-flight.ts';

describe('claims', () => {
  test(
    'a backup.failed event ends the wait after one read, whatever status the service still shows',
    withEvents(async (stack) => {
      const { run, backupId } = await backingUp(stack);
      const { workflowId } = deliver(stack, 'backup.failed', { backup_id: backupId });
      const { outcome, error, backup } = await soonOver(stack, run);
      assert.deepEqual([outcome, error?.type, backup?.polls], ['failed', 'BackupFailed', 1]);
      assert.match(error?.message ?? '', new RegExp(`failed according to ${workflowId}; its last status was "`));
    }),
  );

  test(
    'a backup.failed event does not fail a backup that the service reports as completed',
    withEvents(async (stack) => {
      const { serverId, run, backupId } = await backingUp(stack);
      stack.sandbox.finish({ server: serverId }, 'completed');
      deliver(stack, 'backup.failed', { backup_id: backupId });
      assert.equal((await soonOver(stack, run)).outcome, 'completed');
    }),
  );

  test(
    'a failed read after a backup.failed event decides nothing until the next read',
    withEvents(async (stack) => {
      const { run, backupId } = await backingUp(stack, { intervalMs: 60_000, tries: 20 });
      stack.sandbox.fault({ route: 'backup', target: backupId, times: 2, answer: { kind: 'status', code: 500 } });
      deliver(stack, 'backup.failed', { backup_id: backupId });
      await stack.until('a failed read', () => readsOfBackup(stack, backupId) === 1);
      await stack.forward(MOMENT_MS);
      assert.equal(run.closedMs, null);
      const { outcome, backup } = await stack.result(run);
      assert.deepEqual([outcome, backup?.polls, readsOfBackup(stack, backupId)], ['failed', 1, 3]);
    }),
  );

  test(
    'a backup.failed event ends nothing if it names another backup or its sender is unverified',
    withEvents(async (stack) => {
      const { serverId, run, backupId } = await backingUp(stack);
      const named = { server_id: serverId, backup_id: backupId };
      deliver(stack, 'backup.failed', named, { source: 'open' });
      // It is searched for twice, and signalled once.
      await stack.forward(60_000);
      assert.equal(readsOfBackup(stack, backupId), 1);
      deliver(stack, 'backup.failed', { ...named, backup_id: 'another' });
      await stack.forward(60_000);
      assert.equal(readsOfBackup(stack, backupId), 2);
      assert.equal(run.closedMs, null);
      stack.sandbox.finish({ server: serverId }, 'completed');
      deliver(stack, 'x', { backup_id: backupId });
      assert.equal((await soonOver(stack, run)).outcome, 'completed');
    }),
  );

  test(
    'a resource.deleted event ends a deployment once the service no longer finds its site',
    withEvents(async (stack) => {
      const siteId = fresh('a');
      const { run } = await deploying(stack, siteId);
      stack.sandbox.remove({ site: siteId });
      const { workflowId } = deliver(stack, 'resource.deleted', { site_id: siteId });
      const { outcome, error } = await soonOver(stack, run);
      assert.deepEqual([outcome, error?.type], ['unknown', 'ResourceDeleted']);
      const message = `was deleted according to ${workflowId}, and the service answers 404`;
      assert.match(error?.message ?? '', new RegExp(message));
    }),
  );

  test(
    'a deployment continues if its site is reported deleted but still has a status',
    withEvents(async (stack) => {
      const siteId = fresh('a');
      const { run, readsOfIt } = await deploying(stack, siteId);
      const before = readsOfIt();
      deliver(stack, 'resource.deleted', { site_id: siteId });
      await stack.forward(60_000);
      assert.equal(readsOfIt(), before + 1);
      assert.equal(run.closedMs, null);
      stack.sandbox.finish({ site: siteId }, 'completed');
      deliver(stack, 'x', { site_id: siteId });
      assert.equal((await soonOver(stack, run)).outcome, 'completed');
    }),
  );

  test(
    'claims about other backups cause no more reads than hints and hide no claim about ours',
    withEvents(async (stack) => {
      const { run, backupId, operationId } = await backingUp(stack);
      const say = async (id: string) => {
        stack.signal(operationId, SIGNALS.hint, { claim: { kind: 'backup.failed', backupId: id, event: 'event:x' } });
        await stack.forward(MOMENT_MS);
      };
      for (let index = 0; index < 150; index += 1) await say(`other-${index}`);
      assert.equal(readsOfBackup(stack, backupId), 2 * RARE.tries);
      await say(backupId);
      const { error, backup } = await soonOver(stack, run);
      assert.equal(error?.type, 'BackupFailed');
      assert.ok((backup?.polls ?? Infinity) <= 2 * RARE.tries + 1, `${backup?.polls} reads`);
    }),
  );
});
