/** Requests that are answered late, or not sent; and reads that are held back, fail, or show nothing new. */
import assert from 'node:assert/strict';
import { backupServerId, deploySiteId } from '../../../src/contract/ids.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { eventually } from '../../support/eventually.ts';
import { fresh } from '../../support/fresh.ts';
import { began, reads } from '../../support/journal.ts';
import { COMPLETED } from '../../support/sites.ts';
import { deliver } from '../deliver.ts';
import { failedBefore, failing, FOREVER, status } from '../earlier-deployments.ts';
import { waitingFor } from '../reach.ts';
import { deployment, ended, type Scenario } from '../scenario.ts';
import { PACE, type Stage } from '../stage.ts';

const EVERY_SECOND = { intervalMs: 1_000, tries: 30 };
const EVERY_THREE = { intervalMs: 3_000, tries: 10 };
/** Long enough for a few things to happen between two reads. */
const SELDOM = { intervalMs: 10_000, tries: 30 };
const [SLOW, LOST] = [{ kind: 'true' }, { kind: 'reset' }] as const;

/** Its token is refused once, in the middle of a deployment. */
function unfit(stage: Stage, site: string): void {
  failedBefore(stage, site, { durationMs: 5_000 });
  stage.sandbox.fault({ route: 'latest', target: site, answer: status(401), skip: 3 });
}

/** Another party deploys the site, for as long as nobody ends that. */
function busy({ sandbox }: Stage, site: string): void {
  sandbox.script({ site }, { ends: 'never' }, { durationMs: 1_200 });
  sandbox.act({ site });
}

const REQUESTS: Scenario[] = [
  deployment('slow-request', 'completed', failing({ route: 'deploy', answer: SLOW, delayMs: 4_500 }), {
    deploy: EVERY_SECOND,
  }),
  // Until the service shows its first deployment, it finds none.
  deployment(
    'slow-first-request',
    'completed',
    ({ sandbox }, site) => {
      sandbox.script({ site }, { durationMs: 1_200, lagMs: 3_500 });
      sandbox.fault({ route: 'deploy', target: site, answer: SLOW, delayMs: 4_500 });
    },
    { deploy: EVERY_SECOND },
  ),
  deployment(
    'in-doubt-with-gaps',
    'OutcomeUnknown',
    // The reads after the request take so long that they may have missed a deployment.
    failing({ route: 'deploy', answer: LOST }, { route: 'latest', answer: SLOW, delayMs: 12_000, skip: 2, times: 6 }),
    { deploy: EVERY_THREE },
  ),
  deployment('in-doubt-and-late', 'OutcomeUnknown', failing({ route: 'deploy', answer: LOST }), {
    deploy: EVERY_THREE,
    startDeploysWithinMs: 15_000,
  }),
  deployment(
    'too-late-at-the-site',
    'TooLate',
    ({ sandbox }, site) => {
      sandbox.script({ site }, { durationMs: 5_000 });
      sandbox.act({ site });
    },
    { startDeploysWithinMs: 4_000 },
  ),
  {
    name: 'cancelled-before-its-request',
    async play(stage) {
      const siteId = fresh('a');
      busy(stage, siteId);
      const run = await stage.start({ siteIds: [siteId], deploy: SELDOM });
      await eventually('two reads', () => reads(stage.sandbox, `/v1/sites/${siteId}/deployments/latest`).length > 2);
      await run.cancel();
      await ended(run, 'Cancelled');
      return [run, { workflowId: deploySiteId(siteId) }];
    },
  },
  {
    name: 'cancelled-before-the-next-request',
    async play(stage) {
      const siteId = fresh('a');
      failing({ route: 'deploy', answer: status(409), times: FOREVER })(stage, siteId);
      const run = await stage.start({ siteIds: [siteId], deploy: { ...SELDOM, baselineWaitMs: 600_000 } });
      await eventually('the request', () =>
        stage.sandbox.journal.find(({ request }) => request === `POST /v1/sites/${siteId}/deploy`),
      );
      await run.cancel();
      await ended(run, 'Cancelled');
      return [run, { workflowId: deploySiteId(siteId) }];
    },
  },
];

/** The service turns these requests away until they are not sent again. */
const turnedAway: Pick<Fault, 'answer' | 'times'> = { answer: { kind: 'status', code: 429 }, times: 5 };

REQUESTS.push({
  // It waits until the service answers a read, and sends its request again.
  name: 'parked-before-its-request',
  isLong: true,
  async play(stage) {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    failedBefore(stage, siteId);
    const { sandbox, start } = stage;
    sandbox.fault({ route: 'create-backup', target: serverId, ...turnedAway });
    sandbox.fault({ route: 'deploy', target: siteId, ...turnedAway });
    const run = await start({ serverId, siteIds: [siteId], outageBudgetMs: 3_600_000 });
    await ended(run, 'completed');
    return [run, { workflowId: backupServerId(serverId) }, { workflowId: deploySiteId(siteId) }];
  },
});

const READS: Scenario[] = [
  deployment('held-back-at-admission', 'completed', failing({ route: 'latest', answer: status(429, '1') })),
  // Another worker can read it, and this one is the only other one.
  deployment('read-by-another-worker', 'completed', unfit, {
    deploy: EVERY_SECOND,
  }),
  deployment('baseline-gone', 'Refused', failing({ route: 'latest', answer: status(503), times: FOREVER }), {
    deploy: { intervalMs: 200, tries: 40 },
  }),
  {
    ...deployment(
      'parked-until-too-late',
      'TooLate',
      failing({ route: 'latest', answer: status(502), times: FOREVER }),
      {
        outageBudgetMs: 3_600_000,
        startDeploysWithinMs: 30_000,
      },
    ),
    isLong: true,
  },
  deployment(
    'same-as-before',
    'OutcomeUnknown',
    ({ sandbox }, site) => {
      sandbox.script({ site }, COMPLETED);
      sandbox.act({ site });
    },
    { deploy: { ...PACE, tries: 4 } },
  ),
  {
    name: 'backup-gone',
    async play(stage) {
      const serverId = fresh('s');
      stage.sandbox.script({ server: serverId }, { ends: 'never' });
      const run = await stage.start({ serverId, backup: { ...EVERY_SECOND, intervalMs: 2_000 } });
      await waitingFor(run, 'backup');
      const target = began(stage.sandbox, 'backup', serverId)[0]?.began?.id ?? '';
      stage.sandbox.fault({ route: 'backup', target, answer: SLOW, delayMs: 1_500 });
      stage.sandbox.fault({ route: 'backup', target, answer: SLOW, delayMs: 1_500 });
      stage.sandbox.fault({ route: 'backup', target, answer: status(500), times: FOREVER });
      await ended(run, 'OutcomeUnknown');
      return [run, { workflowId: backupServerId(serverId) }];
    },
  },
  {
    // Its event comes twice, and ends it only with a read after it.
    name: 'failed-by-its-event',
    async play(stage) {
      const serverId = fresh('s');
      stage.sandbox.script({ server: serverId }, { ends: 'never' });
      const run = await stage.start({ serverId, backup: SELDOM });
      await waitingFor(run, 'backup');
      const backupId = began(stage.sandbox, 'backup', serverId)[0]?.began?.id ?? '';
      const about = { kind: 'backup.failed', serverId, backupId } as const;
      const [event] = await Promise.all([deliver(stage, about, ['end-wait']), deliver(stage, about, ['end-wait'])]);
      await ended(run, 'BackupFailed');
      return [run, { workflowId: backupServerId(serverId) }, { workflowId: event }];
    },
  },
];

/** A run whose deployment is left to the pool. */
async function pooled(stage: Stage) {
  const siteId = fresh('a');
  failedBefore(stage, siteId, { ends: 'never' });
  const run = await stage.start({ siteIds: [siteId], waits: 'pooled', deploy: SELDOM });
  const { client } = stage;
  const operation = { workflowId: deploySiteId(siteId) };
  await eventually('the pooled wait', async () => {
    const { raw } = await client.workflow
      .getHandle(operation.workflowId)
      .describe()
      .catch(() => ({ raw: null }));
    return raw?.pendingActivities?.some(({ activityType }) => activityType?.name === 'pollWhileInProgress');
  });
  return { siteId, run, operation };
}

const POOLED: Scenario[] = [
  {
    name: 'pooled-and-hinted',
    async play(stage) {
      const { siteId, run, operation } = await pooled(stage);
      stage.sandbox.fault({ route: 'latest', target: siteId, answer: status(500) });
      await deliver(stage, { siteId }, []);
      stage.sandbox.finish({ site: siteId }, 'completed');
      await deliver(stage, { siteId }, []);
      await ended(run, 'completed');
      return [run, operation];
    },
  },
  {
    name: 'pooled-and-cancelled',
    async play(stage) {
      const { run, operation } = await pooled(stage);
      await run.cancel();
      const { deployments } = await ended(run, 'Cancelled');
      assert.equal(deployments[0]?.outcome, 'cancelled');
      return [run, operation];
    },
  },
];

export const REQUESTS_AND_READS: Scenario[] = [...REQUESTS, ...READS, ...POOLED];
