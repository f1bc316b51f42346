/** Checks that are left out: nobody asked for a commit, or somebody decided so. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rolloutOf } from '../../../support/rollouts.ts';
import { FAILED } from '../../../support/sites.ts';
import { endOfRollout, startRollout } from '../../plays/start-rollout.ts';
import { MOMENT_MS } from '../../stack/stack.ts';
import { checked, deploy, DOWN, NEW, OLD, OURS, page, pages, SITE } from './checked-sites.ts';

describe('the check of a site', () => {
  test(
    'is left out by --no-check, and the result keeps who decided and why',
    checked(async (stack) => {
      stack.sandbox.fault(page(DOWN));
      const noCheck = { reason: 'the page is being moved', by: 'ana' };
      const { verdict, check, result } = await deploy(stack, [OLD, FAILED], NEW, { commit: OURS, noCheck });
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
