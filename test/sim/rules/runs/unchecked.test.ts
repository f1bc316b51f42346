/** Checks that are left out: nobody asked for a commit, or somebody decided so. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rolloutOf } from '../../../support/rollouts.ts';
import { FAILED } from '../../../support/sites.ts';
import { endOfRollout, startRollout } from '../../plays/start-rollout.ts';
import type { RunResult } from '../../../../src/contract/run.ts';
import { inVirtualTime, MOMENT_MS } from '../../stack/stack.ts';
import { SITES_URL } from '../../worker/sites.ts';
import { checked, deploy, DOWN, NEW, OLD, OURS, page, pages, SITE } from './checked-sites.ts';

describe('the check of a site', () => {
  test(
    'is left out by --no-check, and the result keeps who decided and why',
    checked(async (stack) => {
      stack.sandbox.fault(page(DOWN));
      const noCheck = { reason: 'the page is being moved', by: 'ana' };
      const { verdict, check, result } = await deploy(stack, [OLD, FAILED], NEW, { noCheck });
      assert.deepEqual([check, ...verdict], [null, 'completed', undefined]);
      assert.equal(pages(stack).length, 0);
      const kept = result.held.map(({ from, to, ...held }) => [held, from === to]);
      const { by, reason: why } = noCheck;
      assert.deepEqual(kept, [[{ for: 'check', name: 'answers', end: 'overridden', by, why }, true]]);
    }),
  );
});

describe('a rollout without checks', () => {
  test(
    'has each run leave them out, and keeps who decided and why',
    checked(async (stack) => {
      stack.sandbox.script({ site: SITE }, FAILED, NEW);
      stack.sandbox.act({ site: SITE });
      stack.sandbox.fault(page(DOWN));
      const noCheck = { reason: 'the page is being moved', by: 'ana' };
      const targets = [{ serverId: 's1', siteIds: [SITE] }];
      const rollout = startRollout(stack.world.server, rolloutOf(targets, { options: {}, noCheck }));
      const { outcome, held } = await endOfRollout(stack, rollout);
      assert.equal(pages(stack).length, 0);
      assert.deepEqual(
        [outcome, held.map(({ for: kind, name, by, why }) => [kind, name, by, why])],
        ['completed', [['check', 'answers', 'ana', noCheck.reason]]],
      );
    }),
  );
});

describe('a watched deployment', () => {
  test(
    'is checked if a commit is expected, and shows identity by it',
    checked(async (stack) => {
      const { sandbox } = stack;
      sandbox.script({ site: SITE }, { durationMs: 0, ...OLD }, NEW);
      sandbox.act({ site: SITE });
      const run = stack.start({ siteIds: [SITE], commit: OURS }, { type: 'watchDeployment' });
      await stack.until('the baseline', () => pages(stack).length > 0);
      await stack.forward(MOMENT_MS);
      sandbox.act({ site: SITE });
      const { outcome, deployments } = await stack.result(run);
      assert.deepEqual(
        [outcome, deployments[0]?.evidence, deployments[0]?.check?.outcome],
        ['completed', 'identity', 'passed'],
      );
    }),
  );

  test(
    'is not checked if no commit is expected',
    checked(async (stack) => {
      stack.sandbox.script({ site: SITE }, { durationMs: 0, ...FAILED }, NEW);
      stack.sandbox.act({ site: SITE });
      const run = stack.start({ siteIds: [SITE] }, { type: 'watchDeployment' });
      await stack.forward(20_000);
      stack.sandbox.act({ site: SITE });
      const { outcome, deployments } = await stack.result(run);
      assert.deepEqual([outcome, deployments[0]?.check], ['completed', null]);
    }),
  );
});

const WITHOUT_COMMIT = {
  sites: { [SITE]: { url: `${SITES_URL}/${SITE}/`, check: 'answers' } },
  checks: { answers: { json: { status: 'ok' } } },
};
const FULL = 'c'.repeat(40);
const reported = { kind: 'github' as const, repository: 'acme/shop', token: { env: 'UNUSED' }, for: { sites: [SITE] } };
const withReport = {
  configuration: { ...WITHOUT_COMMIT, notify: { reports: { shop: reported } } },
  notify: { on: 'failed' as const, channels: [], heartbeats: [], reports: ['shop'] },
};

describe('a commit that nothing reads or reports', () => {
  const refused = ({ outcome, error }: Pick<RunResult, 'outcome' | 'error'>, what: string) => {
    assert.deepEqual([outcome, error?.type], ['not_started', 'Usage']);
    assert.ok(error?.message.startsWith(`nothing reads or reports the commit of ${what}: in the worker's belay.yaml`));
  };
  const noCheck = { reason: 'the page is being moved', by: 'ana' };

  test(
    'refuses a run before anything is sent, however it names its target',
    inVirtualTime(
      async (stack) => {
        const started = [
          stack.start({ siteIds: [SITE], commit: OURS }),
          stack.start({ siteIds: [SITE], commit: OURS }, { type: 'watchDeployment' }),
          stack.start({ serverId: 's1', siteIds: [SITE, 'other'], commit: FULL, deploy: { minEvidence: 'identity' } }),
        ];
        for (const [index, what] of [`site ${SITE}`, `site ${SITE}`, `site ${SITE}, site other`].entries())
          refused(await stack.result(started[index]!), what);
        assert.deepEqual(stack.sandbox.journal, []);
      },
      { configuration: WITHOUT_COMMIT },
    ),
  );

  test(
    'refuses a rollout before it starts a server',
    inVirtualTime(
      async (stack) => {
        const targets = [{ serverId: 's1', siteIds: [SITE] }];
        const rollout = startRollout(stack.world.server, rolloutOf(targets, { options: { commit: FULL } }));
        refused(await endOfRollout(stack, rollout), `site ${SITE}`);
        assert.deepEqual(stack.sandbox.journal, []);
      },
      { configuration: WITHOUT_COMMIT },
    ),
  );

  test(
    'is that of a run or rollout that leaves out its checks, unless a report uses it',
    checked(async (stack) => {
      const what = `site ${SITE} without its check`;
      refused(await stack.result(stack.start({ siteIds: [SITE], commit: OURS, noCheck })), what);
      const targets = [{ serverId: 's1', siteIds: [SITE] }];
      const rollout = startRollout(stack.world.server, rolloutOf(targets, { options: { commit: OURS }, noCheck }));
      refused(await endOfRollout(stack, rollout), what);
      assert.deepEqual(stack.sandbox.journal, []);
    }),
  );

  test(
    'is used by a report although the checks are left out',
    inVirtualTime(async (stack) => {
      const { result } = await deploy(stack, [FAILED], NEW, { commit: FULL, noCheck });
      assert.deepEqual([result.outcome, result.commitSeen], ['completed', false]);
    }, withReport),
  );

  test(
    'is used by a report alone if it is named in full, and the result and the report say that it was not seen',
    inVirtualTime(async (stack) => {
      refused(await stack.result(stack.start({ siteIds: [SITE], commit: OURS })), `site ${SITE}`);
      const { result } = await deploy(stack, [FAILED], NEW, { commit: FULL });
      assert.deepEqual([result.outcome, result.commit, result.commitSeen], ['completed', FULL, false]);
      const isTold = () => stack.world.notices.reported.find(({ reported: { state } }) => state === 'completed');
      const told = await stack.until('the report', isTold);
      assert.equal(told.reported.text, 'completed; the commit was named, not seen on the site');
    }, withReport),
  );

  test(
    'is not one that a check has seen',
    checked(async (stack) => {
      const { result } = await deploy(stack, [OLD, FAILED], NEW, { commit: OURS });
      assert.deepEqual([result.outcome, result.commitSeen], ['completed', true]);
    }),
  );
});
