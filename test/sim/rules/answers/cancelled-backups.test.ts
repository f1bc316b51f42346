/** An operation that an operator cancels in the UI before it has sent its request. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { backupServerId, deploySiteId } from '../../../../src/contract/ids.ts';
import { fresh } from '../../../support/fresh.ts';
import { posts } from '../../../support/journal.ts';
import { COMPLETED } from '../../../support/sites.ts';
import { inVirtualTime } from '../../stack/stack.ts';

describe('an operation that is cancelled before its first task', () => {
  for (const kind of ['backup', 'deployment'] as const)
    test(
      `sends no request: ${kind}`,
      inVirtualTime(
        async (stack) => {
          const { world, sandbox, start, until, cancel, result } = stack;
          const [serverId, siteId] = [fresh('s'), fresh('a')];
          const isBackup = kind === 'backup';
          const run = start(isBackup ? { serverId, siteIds: [] } : { siteIds: [siteId] });
          const operation = await until('the operation', () =>
            world.server.find(isBackup ? backupServerId(serverId) : deploySiteId(siteId)),
          );
          cancel(operation);
          const { outcome, backup, deployments } = await result(run);
          const path = isBackup ? `/v1/servers/${serverId}/backups` : `/v1/sites/${siteId}/deploy`;
          assert.equal(posts(sandbox, path).length, 0);
          assert.deepEqual([outcome, (backup ?? deployments[0])?.outcome], ['not_started', 'not_started']);
        },
        { defaults: { backup: COMPLETED, deployment: COMPLETED } },
      ),
    );
});
