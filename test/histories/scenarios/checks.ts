/** Sites that show something else than what is expected of them, and deployments that something else starts. */
import assert from 'node:assert/strict';
import { deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import { fresh } from '../../support/fresh.ts';
import { FAILED } from '../../support/sites.ts';
import { CHECKED_SITES } from '../configuration.ts';
import { waitingFor } from '../reach.ts';
import { deployment, ended, type Scenario } from '../scenario.ts';
import { PACE, type Stage } from '../stage.ts';

const [, , , , FAILING, CUT_SHORT, OTHER, SLOW, WATCHED, NOT_CHECKED] = CHECKED_SITES as [string, ...string[]];
const [BEFORE, OURS, THEIRS] = ['aaaaaaa', '3f2c1ab', 'bbbbbbb'];
const FOREVER = 10_000;
const status = (code: number) => ({ kind: 'status', code }) as const;

/** A site that shows a commit, and whose last deployment failed. */
function committed({ sandbox }: Stage, site: string, next: object): void {
  sandbox.script({ site }, { durationMs: 0, commit: BEFORE }, FAILED, { durationMs: 1_200, ...next });
  sandbox.act({ site });
  sandbox.act({ site });
}

const CHECKS: Scenario[] = [
  deployment(
    'failed-and-checked',
    'DeploymentFailed',
    (stage, site) => committed(stage, site, { ends: 'failed', commit: OURS }),
    { commit: OURS },
    FAILING,
  ),
  // The branch has moved on.
  deployment(
    'another-commit',
    'OutcomeUnknown',
    (stage, site) => committed(stage, site, { ends: 'completed', commit: THEIRS }),
    { commit: OURS },
    OTHER,
  ),
  // Each read of the status takes longer than the interval, so what the site showed before it may be over.
  deployment(
    'slow-before-its-request',
    'completed',
    (stage, site) => {
      committed(stage, site, { ends: 'completed', commit: OURS });
      stage.sandbox.fault({ route: 'latest', target: site, answer: { kind: 'true' }, delayMs: 1_300, skip: 1, times: 8 });
    },
    { commit: OURS, deploy: { ...PACE, tries: 60 } },
    SLOW,
  ),
  deployment(
    'not-checked',
    'completed',
    (stage, site) => committed(stage, site, { ends: 'completed', commit: OURS }),
    { noCheck: { reason: 'its page moves' } },
    NOT_CHECKED,
  ),
  {
    name: 'check-cut-short',
    async play(stage) {
      const siteId = CUT_SHORT!;
      committed(stage, siteId, { ends: 'completed', commit: OURS });
      stage.sandbox.fault({ route: 'page', target: siteId, answer: status(503), skip: 1, times: FOREVER });
      const run = await stage.start({ siteIds: [siteId], commit: OURS });
      await waitingFor(run, 'check');
      await run.cancel();
      const { deployments } = await ended(run, 'Cancelled');
      assert.match(deployments[0]?.error?.message ?? '', /its check was cut short/);
      return [run, { workflowId: deploySiteId(siteId) }];
    },
  },
];

/** A run that follows what others deploy. */
async function following({ start }: Stage, site: string, more = {}) {
  return start({ siteIds: [site], ...more }, 'watchDeployment');
}

const FOLLOWED: Scenario[] = [
  {
    name: 'followed-and-checked',
    async play(stage) {
      committed(stage, WATCHED!, { ends: 'completed', commit: OURS, durationMs: 6_000 });
      const run = await following(stage, WATCHED!, { commit: OURS });
      await waitingFor(run, 'deployment');
      stage.sandbox.act({ site: WATCHED! });
      await ended(run, 'completed');
      return [run];
    },
  },
  {
    name: 'followed-for-the-first-time',
    async play(stage) {
      const site = fresh('a');
      stage.sandbox.script({ site }, { durationMs: 3_000 });
      const run = await following(stage, site, { deploy: { intervalMs: 1_000, tries: 60 } });
      await waitingFor(run, 'deployment');
      stage.sandbox.act({ site });
      await ended(run, 'completed');
      return [run];
    },
  },
  {
    name: 'not-followed',
    async play(stage) {
      const site = fresh('a');
      stage.sandbox.fault({ route: 'latest', target: site, answer: status(422) });
      const run = await following(stage, site);
      await ended(run, 'Refused');
      return [run];
    },
  },
  {
    name: 'nothing-to-follow',
    async play(stage) {
      const site = fresh('a');
      stage.sandbox.fault({ route: 'latest', target: site, answer: status(500), times: FOREVER });
      const run = await following(stage, site, { deploy: { intervalMs: 200, tries: 40 } });
      await ended(run, 'Refused');
      return [run];
    },
  },
  {
    name: 'followed-and-cancelled',
    async play(stage) {
      const site = fresh('a');
      stage.sandbox.fault({ route: 'latest', target: site, answer: status(500), times: FOREVER });
      const run = await following(stage, site, { deploy: { intervalMs: 5_000, tries: 40 } });
      await waitingFor(run, 'deployment');
      await run.cancel();
      await ended(run, 'Cancelled');
      return [run];
    },
  },
];

export const CHECKS_AND_WATCHES: Scenario[] = [...CHECKS, ...FOLLOWED];
