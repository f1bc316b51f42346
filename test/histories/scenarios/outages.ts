/** Workers and services that are gone for a while, and a service that is another one. */
import assert from 'node:assert/strict';
import { deploySiteId } from '../../../src/contract/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { fresh } from '../../support/fresh.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { FAILED } from '../../support/sites.ts';
import { completedServers, startedServer, waitingFor } from '../reach.ts';
import { ended, type Scenario } from '../scenario.ts';
import { PACE } from '../stage.ts';

const MANY = { intervalMs: 1_000, tries: 300 };
const ANNE = { by: 'anne', reason: 'the shop is slow' };

export const OUTAGES: Scenario[] = [
  {
    // Whether its request took effect has to be found out.
    name: 'killed-at-its-request',
    alone: true,
    async play(stage) {
      const site = fresh('a');
      stage.sandbox.script({ site }, FAILED, { durationMs: 60_000 });
      stage.sandbox.act({ site });
      stage.sandbox.fault({ route: 'deploy', target: site, answer: { kind: 'none' }, effect: true });
      const run = await stage.start({ siteIds: [site], deploy: MANY });
      await eventually('the request', () =>
        stage.sandbox.journal.find(({ by, began }) => by === 'api' && began?.target === site),
      );
      await stage.replaceWorker();
      stage.sandbox.finish({ site }, 'completed');
      const { deployments } = await ended(run, 'completed');
      assert.equal(deployments[0]?.trigger.ambiguous, true);
      return [run, { workflowId: deploySiteId(site) }];
    },
  },
  {
    // A rollout between two servers, and a deployment before its request: neither knows what was sent before.
    name: 'restored',
    alone: true,
    async play(stage) {
      const options = { backup: PACE, deploy: PACE };
      const rollout = await stage.belay.rollouts.start(rolloutOf(servers(2), { maxAtOnce: 1, options }));
      await startedServer(rollout);
      await rollout.pause(ANNE);
      await completedServers(rollout, 1);
      const site = fresh('a');
      stage.sandbox.script({ site }, { ends: 'never' });
      stage.sandbox.act({ site });
      const run = await stage.start({ siteIds: [site], deploy: { ...MANY, baselineWaitMs: 600_000 } });
      await waitingFor(run, 'baseline');
      await stage.replaceWorker({ BELAY_EPOCH: 'after' });
      stage.sandbox.finish({ site }, 'completed');
      await ended(run, 'OutcomeUnknown');
      await rollout.resume(ANNE);
      assert.equal((await endOf(rollout)).outcome, 'unknown');
      await stage.replaceWorker();
      return [rollout, run, { workflowId: deploySiteId(site) }];
    },
  },
  {
    name: 'held-by-another-service',
    async play(stage) {
      const other = await stage.openOther();
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      other.sandbox.script({ server: serverId }, { ends: 'never' });
      other.sandbox.script({ site: siteId }, { ends: 'never' });
      const holders = [
        await other.start({ serverId, backup: MANY }),
        await other.start({ siteIds: [siteId], deploy: MANY }),
      ];
      await waitingFor(holders[0]!, 'backup');
      await waitingFor(holders[1]!, 'deployment');
      const [backup, deployment] = [await stage.start({ serverId }), await stage.start({ siteIds: [siteId] })];
      await ended(backup, 'Refused');
      await ended(deployment, 'Refused');
      other.sandbox.finish({ server: serverId }, 'completed');
      other.sandbox.finish({ site: siteId }, 'completed');
      for (const holder of holders) await ended(holder, 'completed');
      return [backup, deployment];
    },
  },
];
