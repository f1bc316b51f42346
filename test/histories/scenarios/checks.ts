/** Sites that show something else than what is expected of them, and deployments that something else starts. */
import assert from 'node:assert/strict';
import { deploySiteId } from '../../../src/contract/ids.ts';
import type { Run } from '../../../src/starter.ts';
import { fresh } from '../../support/fresh.ts';
import { CHECKED_SITES } from '../configuration.ts';
import { committedBefore, FOREVER, OURS, status } from '../earlier-deployments.ts';
import { waitingFor } from '../reach.ts';
import { deployment, ended, type Scenario } from '../scenario.ts';
import { PACE, type Stage } from '../stage.ts';

const [, , , , FAILING, CUT_SHORT, OTHER, SLOW, WATCHED, NOT_CHECKED] = CHECKED_SITES as [string, ...string[]];
const THEIRS = 'bbbbbbb';

const CHECKS: Scenario[] = [
  deployment(
    'failed-and-checked',
    'DeploymentFailed',
    (stage, site) => committedBefore(stage, site, { ends: 'failed' }),
    { commit: OURS },
    FAILING,
  ),
  // The branch has moved on.
  deployment(
    'another-commit',
    'OutcomeUnknown',
    (stage, site) => committedBefore(stage, site, { commit: THEIRS }),
    { commit: OURS },
    OTHER,
  ),
  // Each read of the status takes longer than the interval, so what the site showed before it may be over.
  deployment(
    'slow-before-its-request',
    'completed',
    (stage, site) => {
      committedBefore(stage, site);
      stage.sandbox.fault({
        route: 'latest',
        target: site,
        answer: { kind: 'true' },
        delayMs: 1_300,
        skip: 1,
        times: 8,
      });
    },
    { commit: OURS, deploy: { ...PACE, tries: 60 } },
    SLOW,
  ),
  deployment(
    'not-checked',
    'completed',
    (stage, site) => committedBefore(stage, site),
    { noCheck: { reason: 'its page moves' } },
    NOT_CHECKED,
  ),
  {
    name: 'check-cut-short',
    async play(stage) {
      const siteId = CUT_SHORT!;
      committedBefore(stage, siteId);
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

/** A run that follows a site whose every read fails. */
function unreadable(stage: Stage, intervalMs: number): Promise<Run> {
  const site = fresh('a');
  stage.sandbox.fault({ route: 'latest', target: site, answer: status(500), times: FOREVER });
  return following(stage, site, { deploy: { intervalMs, tries: 40 } });
}

const FOLLOWED: Scenario[] = [
  {
    name: 'followed-and-checked',
    async play(stage) {
      committedBefore(stage, WATCHED!, { durationMs: 6_000 });
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
      const run = await unreadable(stage, 200);
      await ended(run, 'Refused');
      return [run];
    },
  },
  {
    name: 'followed-and-cancelled',
    async play(stage) {
      const run = await unreadable(stage, 5_000);
      await waitingFor(run, 'deployment');
      await run.cancel();
      await ended(run, 'Cancelled');
      return [run];
    },
  },
];

export const CHECKS_AND_WATCHES: Scenario[] = [...CHECKS, ...FOLLOWED];
