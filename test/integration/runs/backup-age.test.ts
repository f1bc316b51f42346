/** Backups that Temporal's lists and events name. The others are in test/sim/rules/runs/backup-age.test.ts. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { EventInput } from '../../../src/features/events/shapes.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import { eventId, sharedBackupId } from '../../../src/contract/ids.ts';
import { countedFrom, OLD_AT_ONCE } from '../../support/backup-age.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { backupOutside } from '../../support/sites.ts';
import { fresh, TASK_QUEUE, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 200, tries: 2_000 };
const HOUR = 3_600_000;

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

/** Every backup is too old for it. */
const start = (serverId: string, backup: RunInput['backup']) =>
  world.belay.start({
    serverId,
    siteIds: [fresh('a')],
    backup: { ...PACE, ...OLD_AT_ONCE, ...backup },
    deploy: PACE,
  });

/** Has an event about such a backup handled, as the receiver does, until runs find what it announced. */
async function announce(named: { serverId: string; backupId: string; at: string }): Promise<void> {
  const deliveryId = fresh('msg');
  const event = { kind: 'backup.started', rawKind: 'backup.started', siteId: null, ...named } as const;
  const about = { receivedAt: new Date().toISOString(), freshForMs: 60_000, body: {} };
  const input: EventInput = { source: 'panel', deliveryId, verified: true, ...about, event, reactions: ['share'] };
  const options = { workflowId: eventId('panel', deliveryId), taskQueue: TASK_QUEUE, args: [input] };
  await world.client.workflow.start('handleEvent', options);
  const record = world.client.workflow.getHandle(sharedBackupId(named.serverId));
  await eventually('the record', () =>
    record.describe().then(
      () => true,
      () => false,
    ),
  );
}

describe('the age of a backup at the deployment', { concurrency: 2 }, () => {
  test('counts from when the backup began if a run finds it in the list of Temporal and reuses it', async () => {
    const serverId = fresh('s');
    const maker = await world.belay.start({ serverId, siteIds: [], backup: PACE });
    const startedAt = (await maker.result()).backup?.startedAt;
    assert.ok(typeof startedAt === 'string');
    // Temporal updates its lists a moment later, and a run that does not find the backup makes one.
    await eventually('the backup in the list', async () => {
      const query = `WorkflowId = 'backup-server:${serverId}' AND ExecutionStatus = 'Completed'`;
      return (await world.client.workflow.count(query)).count === 1;
    });
    const reuser = await world.belay.start({ serverId, siteIds: [], backup: { ...PACE, maxAgeMs: HOUR } });
    const { backup: reused } = await reuser.result();
    assert.deepEqual([reused?.source, reused?.startedAt], ['reused', startedAt]);
  });

  test("counts from its event's time if it began outside Belay", async () => {
    const at = new Date(Date.now() - 5_000).toISOString();
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { ends: 'never' });
    const backupId = backupOutside(world.sandbox, serverId);
    await announce({ serverId, backupId, at });
    const [adopts, isGiven] = [await start(serverId, {}), await start(serverId, { backupId })];
    await eventually('the adoption', async () => (await adopts.status()).result.backup?.backupId === backupId);
    world.sandbox.finish({ server: serverId }, 'completed');
    const [foreign, given] = [await resultOf(adopts), await resultOf(isGiven)];
    assert.deepEqual([foreign.backup?.source, countedFrom(foreign)], ['shared', at]);
    assert.deepEqual([given.backup?.source, countedFrom(given)], ['given', at]);
    assert.equal(began(world.sandbox, 'backup', serverId).length, 0);
  });
});
