/** Runs, rollouts and schedules under every policy. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { HOLD_SIGNAL, ROLLOUT_TYPE } from '../../../src/contract/names.ts';
import type { RolloutInput } from '../../../src/features/rollouts/shapes.ts';
import { nextAttempt } from '../../../src/features/rollouts/client.ts';
import { backupOutside } from '../../support/sites.ts';
import { decide, endOfRollout, startRollout } from '../plays/start-rollout.ts';
import { startRun } from '../plays/start-run.ts';
import { deliver } from '../stack/deliver-event.ts';
import { freezeNow, thawNow } from '../stack/freeze-now.ts';
import { startInput } from '../stack/inspect.ts';
import { MOMENT_MS } from '../stack/stack.ts';

import {
  SECOND,
  MINUTE,
  HOUR,
  BOTH,
  ONE,
  COMMIT,
  ANNE,
  slow,
  never,
  deployedBefore,
  fault,
  posted,
  backedUp,
  approvals,
  CHECKED,
  decideOn,
  FLEET,
  CANARY,
  rollOut,
  GATED,
  gated,
  NOTIFIED,
  FROZEN,
  fire,
  REST,
  type Case,
} from './setting.ts';

export const FEATURE_CASES: Record<string, Case> = {
  'frozen by hand, for a run that fails and for one that waits': {
    async play(stack) {
      freezeNow(stack.world.server, { forMs: HOUR });
      await stack.result(stack.start(BOTH));
      stack.start({ ...BOTH, ifFrozen: 'wait' });
      await stack.forward(20 * MINUTE);
      await thawNow(stack.world.server);
    },
  },
  'frozen by the configuration, with an override and with one that names another freeze': {
    options: { configuration: FROZEN },
    async play({ start, result }) {
      await result(start(ONE));
      await result(start({ ...ONE, override: { freezes: ['stock'], ...ANNE } }));
      await result(start({ ...ONE, override: { freezes: ['other'], ...ANNE } }));
      await result(start({ ...ONE, ifFrozen: 'wait', freezeWaitMs: MINUTE }));
      start({ ...ONE, ifFrozen: 'wait' });
    },
  },
  'frozen during the backup': {
    async play(stack) {
      stack.sandbox.script({ server: 's1' }, slow());
      stack.start({ ...BOTH, ifFrozen: 'wait' });
      await backedUp(stack);
      freezeNow(stack.world.server, { forMs: HOUR, scope: { kind: 'site', id: 'a1' } });
    },
  },
  'a window that opens later': {
    options: { configuration: { windows: { late: { cron: '0 9 * * *', lasts: HOUR } } } },
    play: ({ start }) => [start(BOTH), start({ ...BOTH, ifFrozen: 'wait' })],
  },
  'approved by two people': {
    options: approvals({ need: 2 }),
    async play(stack) {
      await decideOn(stack, stack.start(BOTH), 'approve', 'ana', 'ana', 'bob');
    },
  },
  'rejected, and approved by no one': {
    options: approvals(),
    async play(stack) {
      await decideOn(stack, stack.start(BOTH), 'reject', 'eve');
      stack.start(BOTH);
    },
  },
  'an approval that the run itself asks for, and one that does not exist': {
    options: approvals({ for: { sites: ['none'] } }),
    async play(stack) {
      await decideOn(stack, stack.start({ ...ONE, approval: 'production' }), 'approve', 'ana');
      stack.start({ ...ONE, approval: 'missing' });
    },
  },
  'superseded while it waits, and while it makes its backup': {
    async play(stack) {
      const { sandbox, start, forward, result } = stack;
      sandbox.script({ site: 'a1' }, slow());
      sandbox.script({ server: 's1' }, slow());
      start(ONE);
      await posted(stack, 'a1');
      start(ONE);
      await forward(SECOND);
      await result(start({ ...ONE, supersede: true }));
      start({ serverId: 's1', siteIds: ['a1'] });
      await backedUp(stack);
      start({ serverId: 's1', siteIds: ['a1'], supersede: true });
    },
  },
  'a site that shows the commit, one that does not, and an unknown commit': {
    options: CHECKED,
    async play(stack) {
      const commit = { commit: 'aaaaaaa0000' };
      deployedBefore(
        stack,
        'failed',
        { ...slow(), ...commit },
        { ...slow(), commit: COMMIT },
        { ...slow(), ...commit },
      );
      for (const asked of [
        { commit: 'aaaaaaa0000' },
        { commit: COMMIT },
        { commit: COMMIT },
        { commit: COMMIT, orNewer: true },
      ])
        await stack.result(stack.start({ ...ONE, ...asked }));
    },
  },
  'a site whose check fails, and one that is not checked': {
    options: CHECKED,
    async play(stack) {
      stack.sandbox.fault({ ...fault('page', 503, 999), target: 'a1' });
      await stack.result(stack.start(BOTH));
      await stack.result(stack.start({ ...ONE, noCheck: { ...ANNE } }));
      stack.start({ siteIds: ['a2'], commit: COMMIT });
    },
  },
  'reports, a heartbeat and a channel': {
    options: NOTIFIED,
    async play(stack) {
      stack.sandbox.script({ site: 'a1' }, slow(), slow('failed'));
      const run = { ...BOTH, commit: COMMIT, heartbeat: 'night' };
      await stack.result(stack.start(run));
      await stack.result(stack.start(run));
      deliver(stack, 'alert.fired', { server_id: 's1' }, { configuration: NOTIFIED.configuration! });
    },
  },
  'an inventory that has the site elsewhere, and a strict one': {
    options: {
      configuration: { inventory: 'strict', fleets: { shop: { servers: new Map([['s1', { sites: ['a1'] }]]) } } },
    },
    async play({ start, result }) {
      for (const siteIds of [['a1'], ['a9'], ['A1']]) await result(start({ serverId: 's1', siteIds }));
      start({ serverId: 's2', siteIds: ['a1'] });
    },
  },
  deadlines: {
    async play(stack) {
      const { sandbox, start, result } = stack;
      sandbox.script({ site: 'a1' }, slow());
      await result(start({ ...BOTH, keepGoing: true, startDeploysWithinMs: 30 * SECOND }));
      await result(start({ ...ONE, deploysUntil: { time: '09:00', timeZone: 'UTC' } }));
      start({ ...ONE, deploysUntil: { time: '06:00', timeZone: 'Europe/Berlin', after: '2026-02-28T08:00:00Z' } });
    },
  },
  'hints: an early one, the end of a backup, and a flood': {
    async play(stack) {
      stack.sandbox.script({ server: 's1' }, slow());
      stack.sandbox.script({ site: 'a1' }, slow());
      const rare = { intervalMs: 30 * MINUTE, tries: 2 };
      stack.start({ serverId: 's1', siteIds: ['a1'], backup: rare, deploy: rare });
      const backupId = await backedUp(stack);
      deliver(stack, 'backup.completed', { backup_id: backupId });
      await stack.forward(MINUTE);
      deliver(stack, 'backup.completed', { backup_id: backupId });
      await posted(stack, '/sites/a1');
      await stack.forward(MINUTE);
      for (let count = 0; count < 20; count += 1) deliver(stack, 'deployment.completed', { site_id: 'a1' });
    },
  },
  'a backup of another party that an event announces': {
    async play(stack) {
      stack.sandbox.script({ server: 's1' }, slow());
      const backupId = backupOutside(stack.sandbox, 's1');
      deliver(stack, 'backup.started', { server_id: 's1', backup_id: backupId }, { source: 'mapped' });
      await stack.forward(SECOND);
      stack.start(BOTH);
      deliver(stack, 'resource.deleted', { site_id: 'a2' });
    },
  },
  'pooled waits': {
    async play(stack) {
      deployedBefore(stack, 'failed', slow());
      stack.sandbox.script({ server: 's1' }, slow());
      stack.sandbox.script({ site: 'a2' }, never);
      stack.start({ ...BOTH, waits: 'pooled', deploy: { tries: 6 } });
      const cancelled = stack.start({ siteIds: ['a3'], waits: 'pooled' });
      await posted(stack, 'a3');
      stack.cancel(cancelled);
    },
  },
  'input that no starter has checked, and an operation under another id': {
    async play({ startByHand }) {
      startByHand('backupThenDeploy', 'by-hand', { serverId: '', siteIds: ['a1', 'a1'], deploy: { tries: 0 } });
      startByHand('deploySite', 'deploy-site:other', { siteId: 'a1' });
      startByHand(ROLLOUT_TYPE, 'rollout-by-hand', { ...FLEET, maxAtOnce: 0 });
    },
  },
  'a rollout that completes': { play: rollOut },
  'a rollout that fails, and its retry': {
    async play(stack) {
      stack.sandbox.script({ site: 'a2' }, slow('failed'), slow());
      const first = rollOut(stack, { maxAtOnce: 1 });
      const result = await endOfRollout(stack, first);
      startRollout(stack.world.server, nextAttempt(startInput<RolloutInput>(first), result, { epoch: '1' }));
    },
  },
  'a rollout that is paused, continued and aborted': {
    async play(stack) {
      stack.sandbox.script({ server: 's1' }, slow());
      const rollout = rollOut(stack, { onFailures: 'pause' });
      await backedUp(stack);
      await decide(stack, rollout, 'pause', ANNE);
      await stack.forward(5 * MINUTE);
      await decide(stack, rollout, 'resume', ANNE);
      await posted(stack, 's2');
      await decide(stack, rollout, 'abort', ANNE);
    },
  },
  'a rollout of which a server is held': {
    async play(stack) {
      stack.sandbox.script({ server: 's1' }, slow());
      const rollout = rollOut(stack, { onFailures: 'pause' });
      await backedUp(stack);
      stack.signal(rollout.workflowId, HOLD_SIGNAL, {
        serverId: 's2',
        event: 'event:panel:7',
        reason: 'an alert fired',
      });
      await stack.forward(10 * MINUTE);
      await decide(stack, rollout, 'resume', { ...ANNE, serverId: 's2' });
    },
  },
  'a rollout whose gate passes after a bake time': {
    options: GATED,
    play(stack) {
      stack.world.meter.shows = () => '0.001';
      rollOut(stack, gated({ bakeMs: 5 * MINUTE }));
    },
  },
  'a rollout whose gate fails': {
    options: GATED,
    play(stack) {
      stack.world.meter.shows = () => '0.5';
      rollOut(stack, gated());
    },
  },
  'a rollout with a wave that is approved, and one that is frozen': {
    options: approvals({ for: { sites: ['none'] } }),
    async play(stack) {
      const waves = [CANARY, { ...REST, approval: 'production' }];
      const rollout = rollOut(stack, { waves, options: { ifFrozen: 'wait' } });
      await decideOn(stack, rollout, 'approve', 'ana');
      await posted(stack, 's2');
      freezeNow(stack.world.server, { forMs: HOUR, scope: { kind: 'site', id: 'a2' } });
    },
  },
  'a schedule that fires twice for one slot': {
    async play(stack) {
      const first = fire(stack, 'firing-1');
      await stack.forward(MOMENT_MS);
      fire(stack, 'firing-2');
      await stack.until('the end of the firing', () => first.closedMs !== null);
    },
  },
  'a schedule whose workers are away': {
    async play(stack) {
      stack.world.restartWorkers(2 * HOUR);
      fire(stack, 'firing-1');
      await stack.forward(3 * HOUR);
    },
  },
  'a run that no worker begins in time': {
    async play(stack) {
      stack.world.restartWorkers(20 * MINUTE);
      stack.start({ ...BOTH, startWithinMs: 10 * MINUTE });
      await stack.forward(HOUR);
    },
  },
  'a key whose run has ended': {
    async play({ world, sandbox, result }) {
      sandbox.script({ site: 'a1' }, slow('failed'), slow());
      const first = startRun(world.server, ONE, 'again');
      await result(first);
      const { workflowId, type, memo, taskTimeoutMs } = first;
      const input = [payloads.toPayload(startInput(first))];
      world.server.start({ workflowId, type, input, memo, taskTimeoutMs });
    },
  },
};
