/** A run that is given a backup whose record no worker can read. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { backupRecordId } from '../../../../src/contract/ids.ts';
import { fresh } from '../../../support/fresh.ts';
import { backupOutside } from '../../../support/sites.ts';
import { unreadable } from '../../stack/freeze-now.ts';
import { inVirtualTime, MOMENT_MS } from '../../stack/stack.ts';
import { SERVICE_URL } from '../../world.ts';

describe('a run that is given a backup', () => {
  test(
    'can be cancelled while no worker can read the record of that backup',
    inVirtualTime(async (stack) => {
      const { world, sandbox, start, cancel, forward, result } = stack;
      const serverId = fresh('s');
      const backupId = backupOutside(sandbox, serverId);
      const record = payloads.toPayload({
        service: SERVICE_URL,
        backupId,
        serverId,
        startedAt: '2026-03-02T08:00:00.000Z',
      });
      const written = world.server.startOnce({
        ...{ workflowId: backupRecordId(backupId), type: 'recordBackup' },
        ...{ input: [record], memo: { record }, taskTimeoutMs: 5_000 },
      });
      unreadable(written!);
      const run = start({ serverId, siteIds: [fresh('a')], backup: { backupId } });
      await forward(60_000);
      assert.equal(run.closedMs, null);
      cancel(run);
      await forward(MOMENT_MS);
      assert.notEqual(run.closedMs, null);
      const { outcome, error, backup } = await result(run);
      assert.deepEqual([outcome, error?.type], ['not_started', 'Cancelled']);
      assert.deepEqual([backup?.backupId, backup?.source, backup?.outcome], [backupId, 'given', 'not_started']);
    }),
  );
});
