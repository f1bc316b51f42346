/** Freezes that begin or end while something is under way. */
import assert from 'node:assert/strict';
import { backupServerId, freezeId } from '../../../src/contract/ids.ts';
import type { FreezeScope } from '../../../src/features/freezes/shapes.ts';
import type { Rollout, Run } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { fresh } from '../../support/fresh.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { completedServers, reached } from '../reach.ts';
import { ended, type Scenario } from '../scenario.ts';
import { PACE, type Stage } from '../stage.ts';

const HOUR_MS = 3_600_000;
const WAITS = { ifFrozen: 'wait' } as const;
/** A backup that takes long, but is not read often. */
const LONG = { intervalMs: 1_000, tries: 200 };

const site = (id: string): FreezeScope => ({ kind: 'site', id });
const server = (id: string): FreezeScope => ({ kind: 'server', id });
const thaw = ({ belay }: Stage, scope: FreezeScope) => belay.freezes.thaw(scope, { reason: 'counted' });

const freeze = ({ belay }: Stage, scope: FreezeScope, forMs = HOUR_MS, backups = false) =>
  belay.freezes.begin({ scope, forMs, reason: 'inventory', backups });

const requested = ({ sandbox }: Stage, path: string) =>
  eventually('the request', () => sandbox.journal.find(({ by, request }) => by === 'api' && request.includes(path)));

/** A run that waits for a freeze of its site. */
async function waiting(stage: Stage, more: { freezeWaitMs?: number } = {}): Promise<{ run: Run; scope: FreezeScope }> {
  const siteId = fresh('a');
  const scope = site(siteId);
  await freeze(stage, scope);
  return { run: await stage.start({ siteIds: [siteId], ...WAITS, ...more }), scope };
}

/** The second of two servers is frozen when its turn comes. */
async function frozenRollout({ belay, ...stage }: Stage, options: object): Promise<[Rollout, FreezeScope]> {
  const [first, second] = servers(2);
  const scope = server(second!.serverId);
  await freeze({ belay, ...stage }, scope);
  const all = { backup: PACE, deploy: PACE, ...options };
  return [await belay.rollouts.start(rolloutOf([first, second!], { maxAtOnce: 1, options: all })), scope];
}

const heldEnd = ({ held }: { held: { for: string; end: string | null }[] }) =>
  held.filter((it) => it.for === 'freeze').map(({ end }) => end);

async function endedFrozen(rollout: Rollout, completed: number): Promise<void> {
  const { error, servers: counts } = await endOf(rollout);
  assert.deepEqual([error?.type, counts.completed], ['Frozen', completed], error?.message);
}

/** The service puts off the first request for the backup, and the second one is not sent. */
function backupFrozen(
  name: string,
  expected: 'completed' | 'Cancelled',
  decide: (stage: Stage, run: Run, scope: FreezeScope) => Promise<unknown>,
): Scenario {
  return {
    name,
    async play(stage) {
      const serverId = fresh('s');
      const conflict = { kind: 'status', code: 409 } as const;
      stage.sandbox.fault({ route: 'create-backup', target: serverId, answer: conflict });
      const run = await stage.start({ serverId, backup: { intervalMs: 5_000, tries: 20 }, ...WAITS });
      await requested(stage, `/${serverId}/`);
      await freeze(stage, server(serverId), HOUR_MS, true);
      await reached(run, 'frozen');
      const { runId } = await stage.client.workflow.getHandle(backupServerId(serverId)).describe();
      await decide(stage, run, server(serverId));
      await ended(run, expected);
      return [run, { workflowId: backupServerId(serverId), runId }];
    },
  };
}

export const FREEZES: Scenario[] = [
  {
    name: 'ran-out',
    async play(stage) {
      const siteId = fresh('a');
      const scope = site(siteId);
      await freeze(stage, scope, 10_000);
      const run = await stage.start({ siteIds: [siteId], ...WAITS });
      assert.deepEqual(heldEnd(await ended(run, 'completed')), ['passed']);
      const workflowId = freezeId(scope);
      await stage.client.workflow.getHandle(workflowId).result();
      return [run, { workflowId }];
    },
  },
  {
    name: 'frozen-too-long',
    async play(stage) {
      const { run } = await waiting(stage, { freezeWaitMs: 60_000 });
      assert.deepEqual(heldEnd(await ended(run, 'Frozen')), ['gave_up']);
      return [run];
    },
  },
  {
    name: 'cancelled-in-a-freeze',
    async play(stage) {
      const { run } = await waiting(stage);
      await reached(run, 'frozen');
      await run.cancel();
      assert.deepEqual(heldEnd(await ended(run, 'Cancelled')), ['cancelled']);
      return [run];
    },
  },
  {
    // The run learns of it from its deployment, after its backup.
    name: 'frozen-before-its-request',
    async play(stage) {
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      stage.sandbox.script({ server: serverId }, { ends: 'never' });
      const run = await stage.start({ serverId, siteIds: [siteId], backup: LONG, ...WAITS });
      await requested(stage, `/${serverId}/`);
      await freeze(stage, site(siteId));
      stage.sandbox.finish({ server: serverId }, 'completed');
      await reached(run, 'frozen');
      await thaw(stage, site(siteId));
      assert.deepEqual(heldEnd(await ended(run, 'completed')), ['passed']);
      return [run];
    },
  },
  backupFrozen('backup-frozen', 'completed', (stage, _run, scope) => thaw(stage, scope)),
  backupFrozen('backup-frozen-and-cancelled', 'Cancelled', (_stage, run) => run.cancel()),
  {
    name: 'server-frozen-and-thawed',
    async play(stage) {
      const [rollout, scope] = await frozenRollout(stage, WAITS);
      await reached(rollout, 'paused');
      await thaw(stage, scope);
      const { outcome, decisions } = await endOf(rollout);
      assert.deepEqual([outcome, ...decisions.map(({ action }) => action)], ['completed', 'pause', 'resume']);
      return [rollout];
    },
  },
  {
    name: 'server-frozen',
    async play(stage) {
      const [rollout] = await frozenRollout(stage, {});
      await endedFrozen(rollout, 1);
      return [rollout];
    },
  },
  {
    name: 'server-frozen-too-long',
    async play(stage) {
      const [rollout] = await frozenRollout(stage, { ...WAITS, freezeWaitMs: 60_000 });
      await endedFrozen(rollout, 1);
      return [rollout];
    },
  },
  {
    name: 'aborted-in-a-freeze',
    async play(stage) {
      const [rollout] = await frozenRollout(stage, WAITS);
      await reached(rollout, 'paused');
      await rollout.abort({ by: 'anne', reason: 'it takes too long' });
      assert.equal((await endOf(rollout)).error?.type, 'Cancelled');
      return [rollout];
    },
  },
  {
    // The run of the first server has begun when its site is frozen.
    name: 'frozen-under-way',
    async play(stage) {
      const [first, second] = servers(2);
      stage.sandbox.script({ server: first.serverId }, { ends: 'never' });
      const options = { backup: LONG, deploy: PACE };
      const rollout = await stage.belay.rollouts.start(rolloutOf([first, second!], { maxAtOnce: 1, options }));
      await requested(stage, `/${first.serverId}/`);
      await freeze(stage, site(first.siteIds[0]!));
      stage.sandbox.finish({ server: first.serverId }, 'completed');
      await endedFrozen(rollout, 0);
      return [rollout];
    },
  },
  {
    // The pause of a person outlasts the freeze.
    name: 'paused-in-a-freeze',
    async play(stage) {
      const [rollout, scope] = await frozenRollout(stage, WAITS);
      await reached(rollout, 'paused');
      await rollout.pause({ by: 'anne', reason: 'the shop is slow' });
      await thaw(stage, scope);
      await rollout.resume({ by: 'anne', reason: 'it is quick again' });
      await completedServers(rollout, 2);
      assert.equal((await endOf(rollout)).outcome, 'completed');
      return [rollout];
    },
  },
];
