import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { EventInput, EventResult } from '../../../src/contract/event.ts';
import type { RunInput, RunResult } from '../../../src/contract/run.ts';
import { eventId } from '../../../src/contract/ids/workflow-ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts, reads } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { queuedFor } from '../../support/queued.ts';
import { fresh, startTestStack, TASK_QUEUE, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 200, tries: 2_000 };
const HOUR = 3_600_000;

let world: TestStack;
before(async () => {
  world = await startTestStack({ defaults: { backup: { durationMs: 0 }, deployment: { durationMs: 0 } } });
});

/** Every backup is too old for it, and its message names when this one was not. */
const start = (serverId: string, backup: RunInput['backup']) =>
  world.belay.start({
    serverId,
    siteIds: [fresh('a')],
    backup: { ...PACE, maxAgeAtDeployMs: 1, ...backup },
    deploy: PACE,
  });

const backUp = (serverId: string) => world.belay.start({ serverId, siteIds: [], backup: PACE });

/** @returns from when on the age was counted */
function countedFrom({ outcome, error, backup }: RunResult): string {
  assert.deepEqual([outcome, error?.type, backup?.outcome], ['not_started', 'TooLate', 'completed']);
  const at = /the backup may be at most 1ms old, which was (\S+)$/.exec(error?.message ?? '')?.[1];
  return new Date(Date.parse(at ?? '') - 1).toISOString();
}

/** A backup that began outside Belay. */
function backupOutside(serverId: string): string {
  world.sandbox.act({ server: serverId });
  return world.sandbox.journal.findLast(({ began: it }) => it?.target === serverId)?.began?.id ?? '';
}

/** Handles an event about such a backup, as the receiver lets it be handled. */
async function announce(named: { serverId: string; backupId: string; at: string }): Promise<void> {
  const deliveryId = fresh('msg');
  const event = { kind: 'backup.started', rawKind: 'backup.started', siteId: null, ...named } as const;
  const about = { receivedAt: new Date().toISOString(), freshForMs: 60_000, body: {} };
  const input: EventInput = { source: 'panel', deliveryId, verified: true, ...about, event, reactions: ['share'] };
  const options = { workflowId: eventId('panel', deliveryId), taskQueue: TASK_QUEUE, args: [input] };
  const { shared } = (await world.client.workflow.execute('handleEvent', options)) as EventResult;
  assert.ok(shared);
}

describe('the age of a backup at the deployment', { concurrency: 6 }, () => {
  test('counts from when the backup began if a run shares it, reuses it or is given it', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { ends: 'never' });
    const maker = await backUp(serverId);
    await eventually('the backup', () => began(world.sandbox, 'backup', serverId).length > 0);
    const sharer = await start(serverId, {});
    await queuedFor(sharer);
    world.sandbox.finish({ server: serverId }, 'completed');
    const { backup: made } = await resultOf(maker);
    const { backupId, startedAt } = made ?? {};
    assert.ok(typeof backupId === 'string' && typeof startedAt === 'string');
    const shared = await resultOf(sharer);
    assert.deepEqual([shared.backup?.source, countedFrom(shared)], ['shared', startedAt]);
    const given = await resultOf(await start(serverId, { backupId }));
    assert.deepEqual([given.backup?.source, countedFrom(given)], ['given', startedAt]);
    // Temporal updates its lists a moment later, and a run that does not find the backup makes one.
    await eventually('the backup in the list', async () => {
      const query = `WorkflowId = 'backup-server:${serverId}' AND ExecutionStatus = 'Completed'`;
      return (await world.client.workflow.count(query)).count === 1;
    });
    const reused = await resultOf(await start(serverId, { maxAgeMs: HOUR }));
    assert.deepEqual([reused.backup?.source, countedFrom(reused)], ['reused', startedAt]);
  });

  test("counts from its event's time if it began outside Belay", async () => {
    const at = new Date(Date.now() - 5_000).toISOString();
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { ends: 'never' });
    const backupId = backupOutside(serverId);
    await announce({ serverId, backupId, at });
    const [adopts, isGiven] = [await start(serverId, {}), await start(serverId, { backupId })];
    await eventually('the adoption', async () => (await adopts.status()).result.backup?.backupId === backupId);
    world.sandbox.finish({ server: serverId }, 'completed');
    const [foreign, given] = [await resultOf(adopts), await resultOf(isGiven)];
    assert.deepEqual([foreign.backup?.source, countedFrom(foreign)], ['shared', at]);
    assert.deepEqual([given.backup?.source, countedFrom(given)], ['given', at]);
    assert.equal(began(world.sandbox, 'backup', serverId).length, 0);
  });

  test('counts the age from the first read of the run if nothing says when the backup began', async () => {
    const serverId = fresh('s');
    const backupId = backupOutside(serverId);
    const result = await resultOf(await start(serverId, { backupId }));
    const [first] = reads(world.sandbox, `/v1/backups/${backupId}`);
    const counted = countedFrom(result);
    assert.ok((result.startedAt ?? '') <= counted && counted <= (first?.at ?? ''), `${counted}, ${first?.at}`);
    assert.equal(result.backup?.startedAt, null);
  });

  test('allows a deployment below the limit and none above it', async () => {
    const end = async (at: string | null) => {
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      const backupId = backupOutside(serverId);
      if (at !== null) await announce({ serverId, backupId, at });
      const backup = { ...PACE, backupId, maxAgeAtDeployMs: HOUR };
      const { outcome } = await resultOf(
        await world.belay.start({ serverId, siteIds: [siteId], backup, deploy: PACE }),
      );
      return [outcome, posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length];
    };
    assert.deepEqual(await end(new Date(Date.now() - 2 * HOUR).toISOString()), ['not_started', 0]);
    assert.deepEqual(await end(null), ['completed', 1]);
  });
});
