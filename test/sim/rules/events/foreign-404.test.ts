/** A foreign backup that a run has read as in progress exists: a 404 is then a failed read like any other. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fresh } from '../../../support/fresh.ts';
import { status } from '../../../support/fault-answers.ts';
import { backupOutside } from '../../../support/sites.ts';
import { deliver, handled } from '../../stack/deliver-event.ts';
import { readsOfBackup, withEvents } from './events-in-flight.ts';

describe('a foreign backup that was read as in progress', () => {
  for (const code of [404, 400])
    test(
      `is read again after one ${code}`,
      withEvents(async (stack) => {
        const serverId = fresh('s');
        const backupId = backupOutside(stack.sandbox, serverId);
        const data = { server_id: serverId, backup_id: backupId };
        await handled(stack, deliver(stack, 'backup.started', data, { source: 'mapped' }));
        // The first read shows it in progress.
        stack.sandbox.fault({ route: 'backup', target: backupId, skip: 1, ...status(code) });
        const run = stack.start({ serverId, siteIds: [] });
        await stack.forward(30_000);
        stack.sandbox.finish({ server: serverId }, 'completed');
        const { outcome, backup } = await stack.result(run);
        assert.deepEqual([outcome, backup?.backupId, backup?.source], ['completed', backupId, 'shared']);
      }),
    );

  test(
    'is named with its last status, and when it was read, by a run that is cancelled before it is read again',
    withEvents(async (stack) => {
      const serverId = fresh('s');
      const backupId = backupOutside(stack.sandbox, serverId);
      const data = { server_id: serverId, backup_id: backupId };
      await handled(stack, deliver(stack, 'backup.started', data, { source: 'mapped' }));
      stack.sandbox.fault({ route: 'backup', target: backupId, skip: 1, times: 100, ...status(404) });
      const run = stack.start({ serverId, siteIds: [] });
      await stack.until('the read that failed', () => readsOfBackup(stack, backupId) === 2);
      stack.cancel(run);
      const { outcome, error, backup } = await stack.result(run);
      assert.equal(outcome, 'cancelled');
      assert.match(error?.message ?? '', new RegExp(`last status "${backup?.lastStatus}" at ${backup?.inProgressAt}`));
    }),
  );
});
