/** What a site does after its deployment decides beside its status. The table of verdicts is in unit/site-verdict. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deploySiteId } from '../../../../src/contract/ids.ts';
import { POOLED_WAIT_ACTIVITY, QUERIES } from '../../../../src/contract/names.ts';
import type { DeploymentResult } from '../../../../src/contract/run.ts';
import type { Explanation } from '../../../../src/contract/waiting.ts';
import { FAILED } from '../../../support/sites.ts';
import { eventsOf } from '../../stack/inspect.ts';
import { MOMENT_MS } from '../../stack/stack.ts';
import {
  BEFORE,
  begin,
  checked,
  deploy,
  DOWN,
  endOf,
  NEW,
  OLD,
  OURS,
  page,
  pages,
  shows,
  SILENT,
  SITE,
  THIRD,
} from './checked-sites.ts';
import { deployPosts } from './runs-that-wait.ts';

describe('a check after a deployment', () => {
  test(
    'passes with three good reads in a row, and reports what the site answered before and last',
    checked(async (stack) => {
      const { verdict, check, result } = await deploy(stack, [OLD, FAILED], NEW, { commit: OURS });
      assert.deepEqual(verdict, ['completed', undefined]);
      assert.deepEqual([check?.outcome, check?.goodReads, result.commit], ['passed', 3, OURS]);
      assert.deepEqual([check?.baseline?.commit, check?.last?.commit], [BEFORE, OURS]);
    }),
  );

  test(
    'fails a deployment that the service reports as completed if the site does not answer as expected',
    checked(async (stack) => {
      stack.sandbox.fault({ ...page(DOWN), skip: 1 });
      const { verdict, check, deployment, result } = await deploy(stack, [OLD, FAILED], NEW, { commit: OURS });
      assert.deepEqual(verdict, ['failed', 'CheckFailed']);
      assert.deepEqual([check?.outcome, check?.reads], ['failed', 24]);
      assert.match(
        deployment.error?.message ?? '',
        /completed; check answers: status 503, expected 2xx; 0 of 24 reads/,
      );
      assert.equal(result.error?.message, deployment.error?.message);
      const checkedMs = Date.parse(deployment.endedAt ?? '') - Date.parse(deployment.verdictAt ?? '');
      assert.ok(checkedMs >= 23 * 5_000, 'the time of the check is not that of the deployment');
    }),
  );

  test(
    'finds the commit on the site however its letters are written',
    checked(async (stack) => {
      const { verdict, deployment, result } = await deploy(stack, [OLD, FAILED], NEW, { commit: OURS.toUpperCase() });
      assert.deepEqual(verdict, ['completed', undefined]);
      assert.deepEqual([deployment.evidence, result.commit], ['identity', OURS]);
    }),
  );

  test(
    'waits for a site that shows the commit of before for a while',
    checked(async (stack) => {
      const late = { ...NEW, pageLagMs: 60_000 };
      const { verdict, check } = await deploy(stack, [OLD, FAILED], late, { commit: OURS });
      assert.deepEqual([check?.goodReads, ...verdict], [3, 'completed', undefined]);
    }),
  );

  test(
    'fails a site that shows the commit of before to the end',
    checked(async (stack) => {
      const { verdict, result } = await deploy(
        stack,
        [OLD, FAILED],
        { ...NEW, pageLagMs: 86_400_000 },
        { commit: OURS },
      );
      assert.deepEqual(verdict, ['failed', 'CheckFailed']);
      assert.match(result.error?.message ?? '', /still shows commit aaaaaaa0000, that of before/);
    }),
  );

  test(
    'leaves a site with a third commit unknown, unless newer ones will do',
    checked(async (stack) => {
      const third = { ...NEW, commit: THIRD };
      const { verdict, result } = await deploy(stack, [OLD, FAILED], third, { commit: OURS });
      assert.deepEqual(verdict, ['unknown', 'OutcomeUnknown']);
      assert.match(result.error?.message ?? '', /the branch has moved on, or another deployment came between/);
    }),
  );

  test(
    'accepts a third commit if newer ones will do',
    checked(async (stack) => {
      const third = { ...NEW, commit: THIRD };
      const { verdict, check } = await deploy(stack, [OLD, FAILED], third, { commit: OURS, orNewer: true });
      assert.deepEqual(verdict, ['completed', undefined]);
      assert.equal(check?.last?.commit, THIRD);
    }),
  );

  test(
    'fails a site that answered before and does not now',
    checked(async (stack) => {
      stack.sandbox.fault({ ...page(SILENT), skip: 1 });
      assert.deepEqual((await deploy(stack, [OLD, FAILED], NEW)).verdict, ['failed', 'CheckFailed']);
    }),
  );

  test(
    'leaves a site unknown that no worker reaches, neither before nor after',
    checked(async (stack) => {
      stack.sandbox.fault(page(SILENT));
      const { verdict, result } = await deploy(stack, [OLD, FAILED], NEW);
      assert.deepEqual(verdict, ['unknown', 'OutcomeUnknown']);
      assert.match(result.error?.message ?? '', /no worker reached the site/);
    }),
  );

  test(
    'leaves a site unknown that shows no commit, as before',
    checked(async (stack) => {
      stack.sandbox.fault(page(shows('v1.2-dirty')));
      assert.deepEqual((await deploy(stack, [OLD, FAILED], NEW, { commit: OURS })).verdict, [
        'unknown',
        'OutcomeUnknown',
      ]);
    }),
  );

  test(
    'fails a site that is good and bad in turn',
    checked(async (stack) => {
      // A fault that takes its turn ends the skipping of those behind it.
      stack.sandbox.fault(...Array.from({ length: 12 }, (_, n) => ({ ...page(DOWN, 1), skip: 2 + n })));
      const { verdict, check } = await deploy(stack, [OLD, FAILED], NEW, { commit: OURS });
      assert.deepEqual([check?.goodReads, ...verdict], [12, 'failed', 'CheckFailed']);
    }),
  );

  test(
    'does not change what the service reports as failed, and reports what the site answers',
    checked(async (stack) => {
      const { verdict, result, check } = await deploy(stack, [OLD], { ...FAILED, commit: OURS });
      assert.deepEqual(verdict, ['failed', 'DeploymentFailed']);
      assert.match(result.error?.message ?? '', /; the site: status 200, as expected, commit aaaaaaa0000$/);
      assert.deepEqual([check?.outcome, check?.reads], [null, 1]);
    }),
  );

  test(
    'blocks no deployment of a broken site',
    checked(async (stack) => {
      stack.sandbox.fault(page(DOWN, 1));
      const { verdict, check } = await deploy(stack, [OLD, FAILED], NEW, { commit: OURS });
      assert.deepEqual(verdict, ['completed', undefined]);
      assert.equal(check?.baseline?.kind, 'fails');
    }),
  );

  test(
    'reads a site that was never deployed at most three times before the request, and then compares with nothing',
    checked(async (stack) => {
      stack.sandbox.script({ site: SITE }, NEW);
      const run = stack.start({ siteIds: [SITE], commit: OURS, deploy: { intervalMs: 500, tries: 60 } });
      await stack.until('the request', () => deployPosts(stack, SITE) > 0);
      assert.equal(pages(stack).length, 3);
      const { verdict, check } = await endOf(stack, run);
      assert.deepEqual([check?.baseline, ...verdict], [null, 'completed', undefined]);
    }),
  );

  test(
    'is not made, and passes nothing, if the run was cancelled while a completed deployment was still being accepted',
    checked(async (stack) => {
      const answer = { kind: 'true' } as const;
      stack.sandbox.fault({ route: 'deploy', target: SITE, answer, delayMs: 6_000, effect: true });
      begin(stack, [OLD, FAILED], NEW);
      const run = stack.start({ siteIds: [SITE] });
      await stack.until('the request', () => deployPosts(stack, SITE) > 0);
      await stack.forward(4_000);
      stack.cancel(run);
      const { verdict, result, deployment } = await endOf(stack, run);
      assert.deepEqual([deployment.lastStatus, ...verdict], ['completed', 'cancelled', 'Cancelled']);
      assert.match(result.error?.message ?? '', /its check was cut short/);
    }),
  );

  test(
    'waits in a phase of its own, says how far it is, and is cut short by a cancellation',
    checked(async (stack) => {
      stack.sandbox.fault({ ...page(DOWN), skip: 1 });
      begin(stack, [OLD, FAILED], NEW);
      const run = stack.start({ siteIds: [SITE], commit: OURS });
      await stack.until('some reads', () => pages(stack).length > 4);
      await stack.forward(MOMENT_MS);
      const { sentence } = await stack.query<Explanation>(deploySiteId(SITE), QUERIES.why);
      assert.match(
        sentence,
        /^deployment of shop, check "answers" of "shop": try \d+ of 24, 0 good in a row of 3, last read: "status 503, expected 2xx", next read at /,
      );
      stack.cancel(run);
      const { verdict, result } = await endOf(stack, run);
      assert.deepEqual(verdict, ['cancelled', 'Cancelled']);
      assert.match(result.error?.message ?? '', /its check was cut short/);
    }),
  );

  test(
    'says which commit it expects while the site shows another one',
    checked(async (stack) => {
      begin(stack, [OLD, FAILED], { ...NEW, commit: THIRD });
      const run = stack.start({ siteIds: [SITE], commit: OURS });
      await stack.until('some reads', () => pages(stack).length > 4);
      await stack.forward(MOMENT_MS);
      const { sentence } = await stack.query<Explanation>(deploySiteId(SITE), QUERIES.why);
      assert.match(sentence, /last read: "status 200, commit 9d9d9d9d9d9d, but commit 3f2c1ab0d9e8 is expected"/);
      stack.cancel(run);
      await endOf(stack, run);
    }),
  );
});

describe('the commit of a site', () => {
  for (const commit of [OURS, undefined]) {
    const evidence = commit === undefined ? 'changed' : 'identity';
    test(
      `labels a status that settles as ${evidence}, and shortens no settle time`,
      checked(async (stack) => {
        const input = { ...(commit === undefined ? {} : { commit }), deploy: { settleMs: 300_000 } };
        const { deployment, verdict } = await deploy(stack, [OLD], NEW, input);
        assert.deepEqual([deployment.evidence, ...verdict], [evidence, 'completed', undefined]);
        const tookMs = Date.parse(deployment.verdictAt!) - Date.parse(deployment.acceptedAt!);
        assert.ok(tookMs >= 300_000, `${tookMs} ms`);
      }),
    );

    for (const lagS of [3, 8, 15, 40]) {
      const how = commit === undefined ? 'without a commit to expect' : 'with the expected commit';
      test(
        `does not prove the failed status of before, ${how}, while latest shows ours ${lagS} s late`,
        checked(async (stack) => {
          const next = { ...NEW, durationMs: 1_500, lagMs: 1_000 * lagS };
          const { deployment, verdict } = await deploy(
            stack,
            [OLD, FAILED],
            next,
            commit === undefined ? {} : { commit },
          );
          assert.deepEqual(verdict, ['completed', undefined]);
          assert.equal(deployment.evidence, commit === undefined ? 'changed' : 'identity');
        }),
      );
    }

    test(
      `does not prove the completed status of before if ours shows the page and then fails, as ${evidence}`,
      checked(async (stack) => {
        stack.sandbox.fault({ ...page(shows(OURS)), skip: 1 });
        const next = { ...NEW, ends: 'failed', durationMs: 30_000, lagMs: 40_000 };
        const { deployment, verdict } = await deploy(stack, [OLD], next, commit === undefined ? {} : { commit });
        assert.deepEqual([deployment.evidence, ...verdict], [evidence, 'failed', 'DeploymentFailed']);
      }),
    );
  }

  test(
    'is named as the evidence of a transition, too, if the check saw it afterwards',
    checked(async (stack) => {
      const next = { ...NEW, durationMs: 30_000, words: ['building'], pageLagMs: 20_000 };
      const { deployment, result } = await deploy(stack, [OLD], next, { commit: OURS });
      assert.deepEqual([deployment.evidence, result.outcome], ['identity', 'completed']);
      assert.equal(result.deployments[0]?.evidence, 'identity');
    }),
  );

  test(
    'meets --min-evidence identity, which no status alone does, however long the deployment takes',
    checked(async (stack) => {
      const input = { commit: OURS, deploy: { minEvidence: 'identity' as const } };
      const { deployment, verdict } = await deploy(stack, [OLD], { ...NEW, durationMs: 150_000 }, input);
      assert.deepEqual([deployment.evidence, ...verdict], ['identity', 'completed', undefined]);
    }),
  );

  for (const [name, past] of [
    ['a changed', [OLD, FAILED]],
    ['the same', [OLD]],
  ] as const)
    test(
      `meets --min-evidence identity after ${name} status, although the page follows after the settle time`,
      checked(async (stack) => {
        const input = { commit: OURS, deploy: { minEvidence: 'identity' as const } };
        const { deployment, verdict } = await deploy(stack, [...past], { ...NEW, pageLagMs: 200_000 }, input);
        assert.deepEqual([deployment.evidence, ...verdict], ['identity', 'completed', undefined]);
      }),
    );

  const followedMs = ({ acceptedAt, endedAt }: DeploymentResult) => Date.parse(endedAt!) - Date.parse(acceptedAt!);
  const identity = { commit: OURS, deploy: { minEvidence: 'identity' as const, tries: 99 } };

  test(
    'is awaited as long as the check has tries if --min-evidence is identity and the site never shows it',
    checked(async (stack) => {
      const { deployment, verdict } = await deploy(stack, [OLD, FAILED], { ...NEW, pageLagMs: 86_400_000 }, identity);
      assert.deepEqual(verdict, ['unknown', 'OutcomeUnknown']);
      assert.match(deployment.error?.message ?? '', /with no better evidence than "changed"/);
      assert.ok(followedMs(deployment) > 200_000, `${followedMs(deployment)} ms`);
    }),
  );

  for (const [why, past, next, input] of [
    ['the service reports that the deployment failed', OLD, { ...NEW, ends: 'failed' }, identity],
    ['no commit is expected', OLD, NEW, { deploy: identity.deploy }],
    ['the site showed it before', { ...OLD, commit: OURS }, NEW, identity],
    [
      '--min-evidence is transition',
      OLD,
      NEW,
      { ...identity, deploy: { minEvidence: 'transition' as const, tries: 99 } },
    ],
  ] as const)
    test(
      `is not awaited if ${why}`,
      checked(async (stack) => {
        const late = { ...next, durationMs: 0, pageLagMs: 86_400_000 };
        const { deployment, verdict } = await deploy(stack, [past], late, input);
        assert.deepEqual(verdict, ['unknown', 'OutcomeUnknown']);
        assert.ok(followedMs(deployment) < 120_000, `${followedMs(deployment)} ms`);
      }),
    );

  test(
    'gives no evidence if the site showed it before the request',
    checked(async (stack) => {
      const { deployment, verdict } = await deploy(stack, [{ ...OLD, commit: OURS }], NEW, { commit: OURS });
      assert.deepEqual([deployment.evidence, ...verdict], ['settled', 'completed', undefined]);
    }),
  );

  test(
    'is found after a wait in the pool, too',
    checked(async (stack) => {
      const next = { ...NEW, durationMs: 120_000, words: ['building'] };
      const { verdict } = await deploy(stack, [OLD, FAILED], next, { commit: OURS, waits: 'pooled' });
      assert.deepEqual(verdict, ['completed', undefined]);
      const operation = stack.world.server.find(deploySiteId(SITE))!;
      assert.equal(
        eventsOf(operation, 'activityScheduled').filter(({ type }) => type === POOLED_WAIT_ACTIVITY).length,
        1,
      );
    }),
  );
});
