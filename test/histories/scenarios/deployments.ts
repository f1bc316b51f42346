/** How a deployment may go, from its baseline to its verdict. */
import { siteTarget } from '../../../src/contract/target.ts';
import { committedBefore, failedBefore, failing, OURS, status } from '../earlier-deployments.ts';
import { deployment, type Scenario } from '../scenario.ts';
import { CHECKED_SITES, FROZEN_SITE } from '../configuration.ts';
import { PACE } from '../stage.ts';

const [CHECKED, DOWN, QUICK, CHECKED_POOLED] = CHECKED_SITES;
const LATE = 'checked-late';

export const DEPLOYMENTS: Scenario[] = [
  deployment('first', 'completed', () => undefined),
  deployment('failed', 'DeploymentFailed', (stage, site) => failedBefore(stage, site, { ends: 'failed' })),
  deployment('timed-out', 'DeploymentTimedOut', (stage, site) => failedBefore(stage, site, { ends: 'never' }), {
    deploy: { ...PACE, tries: 3 },
  }),
  deployment(
    'settled',
    'completed',
    (stage, site) => {
      stage.sandbox.script({ site }, { durationMs: 0, ends: 'completed' });
      stage.sandbox.act({ site });
    },
    { deploy: { intervalMs: 1_000, tries: 20 } },
  ),
  deployment(
    'weak-evidence',
    'OutcomeUnknown',
    (stage, site) => {
      stage.sandbox.script({ site }, { durationMs: 0, ends: 'completed' });
      stage.sandbox.act({ site });
    },
    { deploy: { intervalMs: 1_000, tries: 15, minEvidence: 'transition' } },
  ),
  deployment('after-another', 'completed', (stage, site) => {
    stage.sandbox.script({ site }, { durationMs: 1_500, ends: 'failed' }, { durationMs: 1_200 });
    stage.sandbox.act({ site });
  }),
  deployment(
    'busy',
    'Busy',
    (stage, site) => {
      stage.sandbox.script({ site }, { ends: 'never' });
      stage.sandbox.act({ site });
    },
    { ifBusy: 'fail' },
  ),
  deployment('conflict', 'completed', failing({ route: 'deploy', answer: status(409) })),
  deployment('throttled', 'completed', failing({ route: 'deploy', answer: status(429, '1') })),
  deployment('rejected', 'Refused', failing({ route: 'deploy', answer: status(422) })),
  deployment('unauthorized', 'Refused', failing({ route: 'deploy', answer: status(403), times: 10 })),
  deployment('in-doubt-found', 'completed', failing({ route: 'deploy', answer: { kind: 'reset' }, effect: true })),
  deployment('in-doubt-sent-again', 'completed', failing({ route: 'deploy', answer: { kind: 'reset' } }), {
    deploy: { intervalMs: 1_000, tries: 30 },
  }),
  deployment('in-doubt-stopped', 'OutcomeUnknown', failing({ route: 'deploy', answer: { kind: 'reset' } }), {
    deploy: { intervalMs: 1_000, tries: 30, onAmbiguous: 'stop' },
  }),
  deployment('failed-reads', 'completed', failing({ route: 'latest', answer: status(503), skip: 3, times: 4 })),
  deployment(
    'slow-reads',
    'completed',
    failing({ route: 'latest', answer: { kind: 'true' }, delayMs: 1_500, skip: 3, times: 2 }),
  ),
  deployment('gone', 'OutcomeUnknown', failing({ route: 'latest', answer: status(503), skip: 3, times: 10_000 })),
  deployment('parked', 'completed', failing({ route: 'latest', answer: status(502), skip: 3, times: 10 }), {
    outageBudgetMs: 3_600_000,
  }),
  deployment('pooled', 'completed', (stage, site) => failedBefore(stage, site, { durationMs: 4_000 }), {
    waits: 'pooled',
  }),
  deployment('pooled-failed-reads', 'completed', failing({ route: 'latest', answer: status(503), skip: 3, times: 4 }), {
    waits: 'pooled',
  }),
  deployment('checked', 'completed', (stage, site) => committedBefore(stage, site), { commit: OURS }, CHECKED),
  deployment(
    'check-failed',
    'CheckFailed',
    (stage, site) => {
      committedBefore(stage, site);
      stage.sandbox.fault({ route: 'page', target: site, answer: status(503), skip: 1, times: 10_000 });
    },
    { commit: OURS },
    DOWN,
  ),
  deployment(
    'identity',
    'completed',
    ({ sandbox }, site) => {
      sandbox.script({ site }, { durationMs: 0, commit: 'aaaaaaa' }, { durationMs: 600, commit: OURS });
      sandbox.act({ site });
    },
    { commit: OURS, deploy: { ...PACE, minEvidence: 'identity' } },
    QUICK,
  ),
  deployment(
    'page-follows',
    'completed',
    ({ sandbox }, site) => {
      const ours = { durationMs: 600, commit: OURS, pageLagMs: 12_500 };
      sandbox.script({ site }, { durationMs: 0, commit: 'aaaaaaa' }, ours);
      sandbox.act({ site });
    },
    { commit: OURS, deploy: { intervalMs: 1_000, tries: 60, minEvidence: 'identity' } },
    LATE,
  ),
  deployment(
    'checked-pooled',
    'completed',
    (stage, site) => committedBefore(stage, site, { durationMs: 3_000 }),
    { commit: OURS, waits: 'pooled' },
    CHECKED_POOLED,
  ),
  {
    name: 'of-an-app',
    async play({ start, sandbox }) {
      sandbox.script({ app: 'shop' }, { durationMs: 600 });
      const run = await start({ targets: [{ kind: 'app', id: 'shop' }, siteTarget('with-an-app')] });
      await run.result();
      return [run, { workflowId: 'deploy-app:shop' }];
    },
  },
  {
    name: 'frozen',
    async play({ start }) {
      const run = await start({ siteIds: [FROZEN_SITE] });
      await run.result().catch(() => undefined);
      return [run];
    },
  },
];
