/** How old a backup is when its run deploys. Backups that events announce are in test/integration/runs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { BackupRecord } from '../../../../src/contract/operation.ts';
import { backupServerId, sharedBackupId } from '../../../../src/contract/ids.ts';
import type { RunInput } from '../../../../src/contract/run.ts';
import { countedFrom, OLD_AT_ONCE } from '../../../support/backup-age.ts';
import { fresh } from '../../../support/fresh.ts';
import { began, reads } from '../../../support/journal.ts';
import { backupOutside, COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { lockRequests } from '../../stack/inspect.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import { SERVICE_URL } from '../../world.ts';
import { BUILDING, deployPosts } from './runs-that-wait.ts';

const HOUR = 3_600_000;

const inWorld = (body: (stack: VirtualStack) => Promise<void>) =>
  inVirtualTime(body, { defaults: { backup: COMPLETED, deployment: COMPLETED } });

/** Every backup is too old for it. */
const startLate = ({ start }: VirtualStack, serverId: string, backup: RunInput['backup']) =>
  start({ serverId, siteIds: [fresh('a')], backup: { ...OLD_AT_ONCE, ...backup } });

/** What an event about the backup leaves behind. */
function announce({ world }: VirtualStack, named: Omit<BackupRecord, 'service'>): void {
  const record = payloads.toPayload({ service: SERVICE_URL, ...named });
  const workflowId = sharedBackupId(named.serverId);
  world.server.startOnce({
    ...{ workflowId, type: 'recordBackup', input: [record], memo: { record }, taskTimeoutMs: 5_000 },
  });
}

describe('the age of a backup at the deployment', () => {
  test(
    'counts from when the backup began if a run shares it, reuses it or is given it',
    inWorld(async (stack) => {
      const { world, sandbox, start, until, forward, result } = stack;
      const serverId = fresh('s');
      sandbox.script({ server: serverId }, BUILDING);
      const maker = start({ serverId, siteIds: [] });
      const entry = await until('the backup', () => began(sandbox, 'backup', serverId)[0]);
      await forward(60_000);
      const sharer = startLate(stack, serverId, {});
      await until('the sharer', () => lockRequests(world.server.find(backupServerId(serverId))) > 0);
      sandbox.finish({ server: serverId }, 'completed');
      const { backupId, startedAt } = (await result(maker)).backup ?? {};
      assert.ok(typeof backupId === 'string' && typeof startedAt === 'string');
      assert.ok(startedAt <= entry.at && Date.parse(entry.at) - Date.parse(startedAt) < 1_000);
      const shared = await result(sharer);
      assert.deepEqual([shared.backup?.source, countedFrom(shared)], ['shared', startedAt]);
      await forward(HOUR / 2);
      const given = await result(startLate(stack, serverId, { backupId }));
      assert.deepEqual([given.backup?.source, countedFrom(given)], ['given', startedAt]);
      const reused = await result(start({ serverId, siteIds: [], backup: { maxAgeMs: HOUR } }));
      assert.deepEqual([reused.backup?.source, reused.backup?.startedAt], ['reused', startedAt]);
    }),
  );

  test(
    'is young enough because a run reuses no backup that is too old for its deployment',
    inWorld(async ({ sandbox, start, forward, result }) => {
      const serverId = fresh('s');
      const made = await result(start({ serverId, siteIds: [] }));
      await forward(HOUR / 2);
      const deploys = { serverId, siteIds: [siteAfter(sandbox, FAILED, COMPLETED)] };
      const run = await result(start({ ...deploys, backup: { maxAgeMs: HOUR, maxAgeAtDeployMs: HOUR / 3 } }));
      assert.deepEqual([run.outcome, run.backup?.source], ['completed', 'created']);
      assert.notEqual(run.backup?.backupId, made.backup?.backupId);
      await forward(HOUR / 2);
      const only = await result(
        start({ serverId, siteIds: [], backup: { maxAgeMs: HOUR, maxAgeAtDeployMs: HOUR / 3 } }),
      );
      assert.deepEqual([only.backup?.source, only.backup?.backupId], ['reused', run.backup?.backupId]);
    }),
  );

  test(
    'counts the age from the first read of the run if nothing says when the backup began',
    inWorld(async (stack) => {
      const { sandbox, forward, result: resultOf } = stack;
      const serverId = fresh('s');
      const backupId = backupOutside(sandbox, serverId);
      await forward(HOUR);
      const result = await resultOf(startLate(stack, serverId, { backupId }));
      const [first] = reads(sandbox, `/v1/backups/${backupId}`);
      const counted = countedFrom(result);
      assert.ok((result.startedAt ?? '') <= counted && counted <= (first?.at ?? ''), `${counted}, ${first?.at}`);
      assert.equal(result.backup?.startedAt, null);
    }),
  );

  for (const [what, agoMs, outcome] of [
    ['allows a deployment below the limit', HOUR - 1_000, 'completed'],
    ['allows a deployment of a backup that is younger than the run', null, 'completed'],
    ['allows no deployment from the limit on', HOUR, 'not_started'],
    ['allows no deployment above the limit', 2 * HOUR, 'not_started'],
  ] as const) {
    test(
      what,
      inWorld(async (stack) => {
        const { world, sandbox, start, result } = stack;
        const [serverId, siteId] = [fresh('s'), siteAfter(sandbox, FAILED, COMPLETED)];
        const backupId = backupOutside(sandbox, serverId);
        const beganMs = agoMs === null ? null : world.clock.nowMs - agoMs;
        if (beganMs !== null) announce(stack, { serverId, backupId, startedAt: new Date(beganMs).toISOString() });
        const backup = { backupId, maxAgeAtDeployMs: HOUR };
        const end = await result(start({ serverId, siteIds: [siteId], backup }));
        assert.deepEqual([end.outcome, deployPosts(stack, siteId)], [outcome, outcome === 'completed' ? 1 : 0]);
      }),
    );
  }
});
