/** Runs, and what the service, its answers and outages do to them. */
import { backupOutside } from '../../support/sites.ts';
import { phaseOf } from '../rules/runs/runs-that-wait.ts';
import { deploySiteId } from '../../../src/contract/ids.ts';

import {
  SECOND,
  MINUTE,
  HOUR,
  BOTH,
  ONE,
  slow,
  never,
  deployedBefore,
  afterFailure,
  fault,
  unanswered,
  posted,
  backedUp,
  type Case,
} from './setting.ts';

export const SERVICE_CASES: Record<string, Case> = {
  'a backup, then two sites': { play: ({ start }) => start({ ...BOTH, meta: { build: '7' } }) },
  'a site and an app, without a backup': {
    play: ({ start }) => start({ targets: [{ kind: 'app', id: 'b1' }, { kind: 'site', id: 'a1' }] }), // prettier-ignore
  },
  'a backup that fails': {
    play({ sandbox, start }) {
      sandbox.script({ server: 's1' }, slow('failed'));
      start(BOTH);
    },
  },
  'a backup that never ends': {
    play({ sandbox, start }) {
      sandbox.script({ server: 's1' }, never);
      start(BOTH);
    },
  },
  'a failed site stops a run, and not one that keeps going': {
    async play({ sandbox, start, result }) {
      sandbox.script({ site: 'a1' }, slow('failed'));
      await result(start(BOTH));
      start({ ...BOTH, keepGoing: true });
    },
  },
  'two runs share a backup, and a third reuses it': {
    async play({ sandbox, start, forward, result }) {
      sandbox.script({ server: 's1' }, slow());
      const first = start({ serverId: 's1', siteIds: ['a1'] });
      await forward(10 * SECOND);
      await result(start({ serverId: 's1', siteIds: ['a2'] }));
      await result(first);
      await result(start({ serverId: 's1', siteIds: ['a3'], backup: { maxAgeMs: HOUR } }));
      await forward(2 * HOUR);
      start({ serverId: 's1', siteIds: ['a3'], backup: { maxAgeMs: HOUR } });
    },
  },
  'a given backup that is still in progress, and one of which nothing is known': {
    play({ sandbox, start }) {
      sandbox.script({ server: 's1' }, slow());
      start({ ...BOTH, backup: { backupId: backupOutside(sandbox, 's1') } });
      start({ serverId: 's2', siteIds: ['a3'], backup: { backupId: 'missing' } });
    },
  },
  'a backup that is too old once its site may be deployed': {
    async play({ sandbox, start, forward, result }) {
      sandbox.script({ site: 'a1' }, { durationMs: 20 * MINUTE }, slow());
      const deploy = { tries: 200 };
      const first = start({ ...ONE, deploy });
      await forward(MINUTE);
      start({ serverId: 's1', siteIds: ['a1'], backup: { maxAgeAtDeployMs: 5 * MINUTE } });
      await result(first);
    },
  },
  'words that the configuration maps': {
    options: { statuses: { deployment: { 'rolled back': 'failed' }, backup: { archived: 'completed' } } },
    play({ sandbox, start }) {
      sandbox.script({ server: 's1' }, slow('Archived'));
      sandbox.script({ site: 'a1' }, slow(' ROLLED BACK '));
      start(BOTH);
    },
  },
  'a deployment that runs out of tries': { play: afterFailure(never, { deploy: { tries: 4 } }) },
  'a status that was the same before settles': {
    play(stack) {
      deployedBefore(stack, 'completed', { durationMs: 0 });
      stack.start(ONE);
    },
  },
  'a budget too short to settle': {
    play(stack) {
      deployedBefore(stack, 'completed', { durationMs: 0 });
      stack.start({ ...ONE, deploy: { tries: 3 } });
    },
  },
  'evidence that is too weak': {
    play(stack) {
      deployedBefore(stack, 'failed', { durationMs: 0 });
      stack.start({ ...ONE, deploy: { minEvidence: 'transition' } });
    },
  },
  'a deployment that shows its id': {
    play(stack) {
      stack.sandbox.answer({ site: 'a1' }, { latest: { id: 'own' }, trigger: 'own' });
      deployedBefore(stack, 'completed', slow());
      stack.start({ ...ONE, deploy: { minEvidence: 'identity' } });
    },
  },
  'answers with a constant id, a job id, and a replica that lags': {
    async play(stack) {
      const { sandbox, start, result } = stack;
      sandbox.answer(
        { site: 'a1' },
        { latest: { id: 'constant' }, trigger: 'job', replica: { every: 3, lagMs: 60_000 } },
      );
      deployedBefore(stack, 'completed', slow(), slow('failed'));
      await result(start(ONE));
      start({ ...ONE, deploy: { tries: 60 } });
    },
  },
  'a push by another party, before and after the request': {
    async play(stack) {
      deployedBefore(stack, 'failed', slow(), slow('failed'), slow());
      stack.sandbox.act({ site: 'a1' });
      stack.start(ONE);
      await posted(stack, 'a1');
      await stack.forward(20 * SECOND);
      stack.sandbox.act({ site: 'a1' });
    },
  },
  'a busy site, for a run that waits, one that waits too short, and one that does not wait': {
    async play(stack) {
      const { sandbox, start, forward, result } = stack;
      sandbox.script({ site: 'a1' }, { durationMs: 10 * MINUTE, words: ['building'] }, slow());
      sandbox.act({ site: 'a1' });
      await result(start({ ...ONE, ifBusy: 'fail' }));
      await result(start({ ...ONE, deploy: { baselineWaitMs: 2 * MINUTE } }));
      const waiting = start({ ...ONE, deploy: { baselineWaitMs: HOUR } });
      await forward(MINUTE);
      start({ ...ONE, ifBusy: 'fail' });
      start({ ...ONE, busyTimeoutMs: MINUTE });
      await result(waiting);
    },
  },
  'a request that is answered 423': { play: afterFailure(slow(), {}, fault('deploy', 423, 2)) },
  'a queue for one site': {
    async play({ sandbox, start, forward }) {
      sandbox.script({ site: 'a1' }, slow(), slow('failed'), slow());
      for (let count = 0; count < 3; count += 1) {
        start({ ...ONE, meta: { run: `${count}` } });
        await forward(SECOND);
      }
    },
  },
  'a watched deployment, and a watch that sees none': {
    async play(stack) {
      deployedBefore(stack, 'completed', slow('failed'));
      const run = stack.start(ONE, { type: 'watchDeployment' });
      await stack.forward(15 * SECOND);
      stack.sandbox.act({ site: 'a1' });
      await stack.result(run);
      stack.start({ ...ONE, deploy: { tries: 3 } }, { type: 'watchDeployment' });
    },
  },
  'a request without an answer whose effect shows': { play: afterFailure(slow(), {}, unanswered('deploy', true)) },
  'a request without an answer and without an effect': { play: afterFailure(slow(), {}, unanswered('deploy', false)) },
  'a request in doubt that may not be sent again': {
    play: afterFailure(slow(), { deploy: { onAmbiguous: 'stop' } }, unanswered('deploy', false)),
  },
  'a request that is twice in doubt': { play: afterFailure(slow(), {}, fault('deploy', 502, 2)) },
  'a request in doubt, and a deployment that shows late': {
    play: afterFailure(slow('completed', { lagMs: 12 * SECOND }), {}, unanswered('deploy', true)),
  },
  'a backup in doubt, once and twice': {
    async play({ sandbox, start, result }) {
      sandbox.fault(unanswered('create-backup', true));
      await result(start(BOTH));
      sandbox.fault(fault('create-backup', 500, 2));
      start(BOTH);
    },
  },
  'requests that are put off': {
    play: afterFailure(slow(), {}, fault('deploy', 429, 1, '20'), fault('deploy', 503, 1, '5'), fault('deploy', 401)),
  },
  'a request that is put off for too long': { play: afterFailure(slow(), {}, fault('deploy', 429, 9, '9000')) },
  'a request that is refused for good': {
    async play(stack) {
      await stack.result(afterFailure(slow(), {}, fault('deploy', 403, 9))(stack));
      stack.start({ ...BOTH, siteIds: ['a1'] });
    },
  },
  'a site that does not exist, and one that is deleted meanwhile': {
    async play(stack) {
      stack.sandbox.remove({ site: 'a2' });
      await stack.result(stack.start({ siteIds: ['a2'], serverId: 's1' }));
      stack.sandbox.script({ site: 'a1' }, never);
      stack.start(ONE);
      await posted(stack, 'a1');
      stack.sandbox.remove({ site: 'a1' });
    },
  },
  'a token that is refused before, and one that is refused while waiting': {
    async play(stack) {
      stack.sandbox.fault({ ...fault('latest', 401, 9), target: 'a2' });
      await stack.result(stack.start(BOTH));
      stack.sandbox.script({ site: 'a1' }, never);
      stack.start(ONE);
      await posted(stack, 'a1');
      stack.sandbox.setToken('another');
    },
  },
  'reads that fail nine times, and ten times': {
    async play(stack) {
      deployedBefore(stack, 'failed', slow('failed'), slow());
      for (const times of [9, 99]) {
        const run = stack.start(ONE);
        await posted(stack, 'a1', times === 9 ? 1 : 2);
        await stack.forward(5 * SECOND);
        stack.sandbox.fault({ ...fault('latest', 503, times), target: 'a1' });
        await stack.result(run);
      }
    },
  },
  'an outage during the wait, with a budget for outages and without': {
    async play(stack) {
      stack.sandbox.script({ site: 'a1' }, { durationMs: 20 * MINUTE });
      stack.sandbox.script({ site: 'a2' }, { durationMs: 20 * MINUTE });
      const deploy = { tries: 200 };
      stack.start({ siteIds: ['a1'], deploy, outageBudgetMs: HOUR });
      stack.start({ siteIds: ['a2'], deploy });
      await posted(stack, 'a1');
      await posted(stack, 'a2');
      await stack.forward(MINUTE);
      stack.world.downService(10 * MINUTE);
    },
  },
  'a service that is down before the request': {
    async play(stack) {
      stack.sandbox.script({ server: 's1' }, slow());
      const run = stack.start({ serverId: 's1', siteIds: ['a1'] });
      await backedUp(stack);
      await stack.until('the end of the backup', () => phaseOf(stack, run.workflowId) === 'deploy');
      stack.world.downService(HOUR);
    },
  },
  'reads that are put off': { play: afterFailure(slow(), {}, fault('latest', 429, 3, '20')) },
  'workers that are killed at the request, and during the waits': {
    async play(stack) {
      deployedBefore(stack, 'failed', slow());
      stack.sandbox.fault({ route: 'deploy', answer: { kind: 'true' }, delayMs: 5 * SECOND });
      stack.start({ serverId: 's1', siteIds: ['a1'] });
      await backedUp(stack);
      stack.world.restartWorkers(2 * SECOND);
      await posted(stack, '/sites/a1');
      await stack.forward(SECOND);
      stack.world.restartWorkers(3 * SECOND);
    },
  },
  'Temporal that is down for a while': {
    async play(stack) {
      deployedBefore(stack, 'failed', slow());
      stack.start({ serverId: 's1', siteIds: ['a1'] });
      await backedUp(stack);
      await stack.forward(SECOND);
      stack.world.downServer(30 * SECOND);
    },
  },
  'another epoch, and another service': {
    async play(stack) {
      stack.sandbox.script({ server: 's1' }, slow());
      await stack.result(stack.start({ ...ONE, service: 'https://another.example' }));
      stack.start(BOTH);
      await backedUp(stack);
      stack.world.endWorkers();
      stack.world.addWorker({ epoch: '2' });
    },
  },
  'cancelled before anything was sent, during the backup and during the deployment': {
    async play(stack) {
      const { sandbox, start, cancel, result } = stack;
      const first = start(BOTH);
      cancel(first);
      await result(first);
      sandbox.script({ server: 's1' }, slow());
      sandbox.script({ site: 'a1' }, slow());
      const [second, sharer] = [start(BOTH), start({ serverId: 's1', siteIds: ['a3'] })];
      await backedUp(stack);
      cancel(second);
      await result(second);
      await result(sharer);
      const third = start(ONE);
      await posted(stack, '/sites/a1');
      cancel(third);
    },
  },
  'cancelled while it waits for a lock': {
    async play(stack) {
      stack.sandbox.script({ site: 'a1' }, slow());
      stack.start(ONE);
      await posted(stack, 'a1');
      const second = stack.start(ONE);
      await stack.forward(5 * SECOND);
      stack.cancel(second);
    },
  },
  'an operation that is terminated': {
    async play(stack) {
      stack.sandbox.script({ site: 'a1' }, slow());
      stack.start(ONE);
      await posted(stack, 'a1');
      stack.start(ONE);
      await stack.forward(5 * SECOND);
      stack.terminate(deploySiteId('a1'));
    },
  },
};
