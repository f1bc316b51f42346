/** Which waits an event ends sooner, and what it costs them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deploySiteId, failedBackupId } from '../../../../src/contract/ids.ts';
import { fresh } from '../../../support/fresh.ts';
import { backupOutside } from '../../../support/sites.ts';
import { deliver, handled } from '../../stack/deliver-event.ts';
import { eventsOf } from '../../stack/inspect.ts';
import { MOMENT_MS } from '../../stack/stack.ts';
import {
  backingUp,
  backupOf,
  deploying,
  RARE,
  readsOfBackup,
  SOON_MS,
  soonOver,
  withEvents,
} from './events-in-flight.ts';

const FRESH_FOR_MS = 20_000;

describe('events', () => {
  for (const [named, data] of [
    ['its server', (server: string) => ({ server_id: server })],
    ['its id alone', (_server: string, backup: string) => ({ backup_id: backup })],
    ['both', (server: string, backup: string) => ({ server: { id: server }, backup: { id: backup } })],
  ] as const) {
    test(
      `an event that names a backup by ${named} triggers a read at once`,
      withEvents(async (stack) => {
        const { serverId, run, backupId } = await backingUp(stack);
        await stack.forward(SOON_MS);
        stack.sandbox.finish({ server: serverId }, 'completed');
        deliver(stack, 'backup.completed', data(serverId, backupId));
        const { outcome, backup } = await soonOver(stack, run);
        assert.deepEqual([outcome, backup?.polls], ['completed', 1]);
      }),
    );
  }

  test(
    'an event that arrives before the POST returns the backup id is not lost',
    withEvents(async (stack) => {
      const serverId = fresh('s');
      stack.sandbox.script({ server: serverId }, { durationMs: 0, ends: 'completed' });
      const slow = { answer: { kind: 'true' }, delayMs: 5_000 } as const;
      stack.sandbox.fault({ route: 'create-backup', target: serverId, ...slow });
      const run = stack.start({ serverId, siteIds: [], backup: RARE });
      const backupId = await backupOf(stack, serverId);
      deliver(stack, 'backup.completed', { backup_id: backupId });
      const { outcome, backup } = await soonOver(stack, run);
      assert.deepEqual([outcome, backup?.polls], ['completed', 1]);
    }),
  );

  test(
    'an event about a site triggers a read by the deployment and by a watching run',
    withEvents(async (stack) => {
      const [watched, deployed] = [fresh('a'), fresh('a')];
      stack.sandbox.act({ site: watched });
      const waits = [await deploying(stack, watched, 'watchDeployment'), await deploying(stack, deployed)];
      const before = waits.map(({ readsOfIt }) => readsOfIt());
      for (const site of [watched, deployed]) {
        stack.sandbox.finish({ site }, 'completed');
        deliver(stack, 'deployment.completed', { site_id: site });
      }
      for (const { run } of waits) assert.equal((await soonOver(stack, run)).outcome, 'completed');
      assert.deepEqual(
        waits.map(({ readsOfIt }) => readsOfIt()),
        before.map((reads) => reads + 1),
      );
    }),
  );

  for (const name of ['backup_id', 'server_id'] as const) {
    test(
      `an event wakes every run that adopted an existing backup, by ${name === 'backup_id' ? 'backup' : 'server'} id`,
      withEvents(async (stack) => {
        const serverId = fresh('s');
        const backupId = backupOutside(stack.sandbox, serverId);
        const input = { serverId, siteIds: [], backup: { ...RARE, backupId } };
        const runs = [stack.start(input), stack.start(input)];
        await stack.until('their first reads', () => readsOfBackup(stack, backupId) === runs.length);
        await stack.forward(SOON_MS);
        stack.sandbox.finish({ server: serverId }, 'completed');
        deliver(stack, 'backup.completed', { [name]: name === 'backup_id' ? backupId : serverId });
        for (const run of runs) assert.equal((await soonOver(stack, run)).backup?.polls, 2);
      }),
    );
  }

  test(
    'an event wakes the operation of a run, and not the run, which polls nothing meanwhile',
    withEvents(async (stack) => {
      const { serverId, run, operationId } = await backingUp(stack);
      await stack.forward(SOON_MS);
      const { woken } = await handled(stack, deliver(stack, 'backup.completed', { server_id: serverId }));
      assert.deepEqual(woken, [operationId]);
      assert.deepEqual(eventsOf(run, 'signaled'), []);
      stack.sandbox.finish({ server: serverId }, 'completed');
      deliver(stack, 'backup.completed', { server_id: serverId });
      assert.equal((await soonOver(stack, run)).outcome, 'completed');
    }),
  );

  test(
    'an event that no run waits for is handled',
    withEvents(async (stack) => {
      const result = await handled(stack, deliver(stack, 'alert.fired', { message: 'disk full' }));
      assert.deepEqual(result, { woken: [], shared: false, notified: [] });
      const site = fresh('a');
      const { woken } = await handled(stack, deliver(stack, 'x', { site_id: site }));
      assert.ok(!woken.includes(deploySiteId(site)));
    }),
  );

  test(
    'events that waited too long for a worker wake, hold and share nothing, but a failed backup is recorded',
    withEvents(async (stack) => {
      const { world, cancel, result, forward } = stack;
      const { serverId, run, backupId, operationId } = await backingUp(stack);
      world.restartWorkers(FRESH_FOR_MS);
      const sent = { source: 'mapped', configuration: { events: { freshFor: FRESH_FOR_MS } } } as const;
      const events = [
        deliver(stack, 'alert.fired', { server_id: serverId }, sent),
        deliver(stack, 'backup.started', { server_id: serverId, backup_id: 'another' }, sent),
        deliver(stack, 'backup.failed', { server_id: serverId, backup_id: backupId }, sent),
      ];
      for (const event of events)
        assert.deepEqual(await handled(stack, event), { woken: [], shared: false, notified: [], late: true });
      await forward(MOMENT_MS);
      assert.ok(world.server.find(failedBackupId(backupId)), 'the failed backup has no record');
      assert.equal(readsOfBackup(stack, backupId), 0);
      assert.deepEqual(eventsOf(world.server.find(operationId)!, 'signaled'), [], 'it was woken');
      cancel(run);
      assert.equal((await result(run)).outcome, 'cancelled');
    }),
  );

  test(
    'an event within its time is not late',
    withEvents(async (stack) => {
      stack.world.restartWorkers(FRESH_FOR_MS - 1_000);
      const configuration = { events: { freshFor: FRESH_FOR_MS } };
      const event = deliver(stack, 'alert.fired', { server_id: fresh('s') }, { configuration });
      assert.equal((await handled(stack, event)).late, undefined);
    }),
  );

  test(
    'an event workflow started with malformed input fails at once',
    withEvents(async ({ startByHand, until }) => {
      const event = { kind: 'alert.fired', rawKind: null, serverId: null, siteId: null, backupId: null, at: null };
      const unnamed = { event, reactions: [], freshForMs: 60_000 };
      for (const args of [[], [null], [{ event: null, reactions: [] }], [{ event: {}, reactions: [] }], [unnamed]]) {
        const run = startByHand('handleEvent', fresh('x'), ...args);
        await until('its end', () => run.closedMs);
        assert.ok(run.outcome !== null && run.outcome !== 'terminated' && 'failure' in run.outcome);
        assert.equal(run.outcome.failure.applicationFailureInfo?.type, 'Usage');
        assert.ok(run.closedMs! - run.startedMs < MOMENT_MS);
      }
    }),
  );

  test(
    'no event is lost if a worker crashes during a stream of events',
    withEvents(
      async (stack) => {
        const { world, until, forward } = stack;
        const events = Array.from({ length: 40 }, () => deliver(stack, 'alert.fired', {}));
        await until('the first message', () => world.notices.taken[0]);
        world.restartWorkers(5_000);
        await forward(MOMENT_MS);
        assert.ok(world.notices.taken.length < events.length, 'the worker crashed too late');
        for (const event of events) assert.deepEqual((await handled(stack, event)).notified, ['ops']);
        assert.deepEqual(
          new Set(world.notices.taken.map(({ notification }) => notification.id)),
          new Set(events.map(({ workflowId }) => workflowId)),
        );
      },
      { notify: { on: 'failed', channels: ['ops'], heartbeats: [] } },
    ),
  );

  test(
    'an event that is cancelled while it is handled ends, whatever it was about to cause',
    withEvents(
      async (stack) => {
        const { serverId } = await backingUp(stack);
        const event = deliver(stack, 'alert.fired', { server_id: serverId });
        await stack.forward(1_000);
        assert.equal(event.closedMs, null);
        stack.cancel(event);
        await stack.forward(SOON_MS);
        assert.notEqual(event.closedMs, null);
      },
      { notify: { on: 'failed', channels: ['chat'], heartbeats: [] } },
    ),
  );
});
