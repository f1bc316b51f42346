/** A deployment that was reset after its request may meet a later one. Only the id of the request tells them apart. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deploySiteId } from '../../../../src/contract/ids.ts';
import type { ScriptPart } from '../../../../src/sandbox/script.ts';
import { FAILED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime, MOMENT_MS, type VirtualStack } from '../../stack/stack.ts';
import type { Fault } from '../../../../src/sandbox/faults.ts';
import { begin, BEFORE, checked, DOWN, NEW, OLD, OURS, page, pages, shows, SITE } from '../runs/checked-sites.ts';
import { BUILDING, deployPosts, phaseOf } from '../runs/runs-that-wait.ts';

/** Resets the deployment of the site to now. It goes on once the later deployment has begun. */
async function resetBeside(stack: VirtualStack, siteId: string, later: ScriptPart, ...faults: Fault[]): Promise<void> {
  const { world, sandbox } = stack;
  world.server.find(deploySiteId(siteId))!.runId = '00000999-0000-4000-8000-000000000000';
  world.endWorkers();
  await stack.forward(30_000);
  sandbox.script({ site: siteId }, later);
  sandbox.act({ site: siteId });
  sandbox.fault(...faults);
  await stack.forward(30_000);
  world.addWorker();
}

describe('a deployment that is reset after its request', () => {
  for (const minEvidence of ['settled', 'identity'] as const)
    test(
      `is not proven with --min-evidence ${minEvidence} by the page, which a later deployment of the commit also changes`,
      checked(async (stack) => {
        begin(stack, [OLD, FAILED], { ...FAILED, lagMs: 40_000 });
        const run = stack.start({ siteIds: [SITE], commit: OURS, deploy: { minEvidence } });
        await stack.until('the request', () => deployPosts(stack, SITE) > 0);
        await stack.forward(15_000);
        await resetBeside(stack, SITE, NEW);
        const result = await stack.result(run);
        assert.equal(result.outcome, 'unknown');
        assert.match(result.error?.message ?? '', /the workflow was reset, so a later deployment may have that status/);
      }),
    );

  test(
    'takes no later failure for its own, although the page has shown its commit',
    checked(async (stack) => {
      begin(stack, [OLD], { ...NEW, lagMs: 40_000 });
      const run = stack.start({ siteIds: [SITE], commit: OURS });
      await stack.until('looks at the page', () => pages(stack).length >= 3);
      await resetBeside(stack, SITE, FAILED);
      assert.equal((await stack.result(run)).outcome, 'unknown');
    }),
  );

  test(
    'does not time out because a later one is in progress',
    inVirtualTime(async (stack) => {
      const siteId = siteAfter(stack.sandbox, FAILED, { durationMs: 20_000, lagMs: 20_000 });
      const run = stack.start({ siteIds: [siteId] });
      await stack.until('the request', () => deployPosts(stack, siteId) > 0);
      await stack.forward(15_000);
      await resetBeside(stack, siteId, BUILDING);
      const result = await stack.result(run);
      assert.equal(result.outcome, 'unknown');
      assert.match(result.error?.message ?? '', /had not finished .* the workflow was reset/);
    }),
  );

  for (const [what, ours, later, commit] of [
    ['the commit of before', shows(BEFORE), shows(BEFORE), OURS],
    ['an error', shows(OURS), DOWN, undefined],
    ['the expected commit', DOWN, shows(OURS), OURS],
  ] as const)
    test(
      `is not judged by the page if a later one may show ${what} there`,
      checked(async (stack) => {
        begin(stack, [OLD, FAILED], NEW);
        stack.sandbox.fault(page(shows(BEFORE), 1), page(ours, 2));
        const run = stack.start({ siteIds: [SITE], ...(commit === undefined ? {} : { commit }) });
        await stack.until('checks the page', () => phaseOf(stack, deploySiteId(SITE)) === 'verify');
        await stack.until('reads it', () => pages(stack).length >= 3);
        await stack.forward(MOMENT_MS);
        await resetBeside(stack, SITE, NEW, page(later));
        const result = await stack.result(run);
        assert.deepEqual([result.outcome, result.error?.type], ['unknown', 'OutcomeUnknown']);
        assert.match(result.error?.message ?? '', /the workflow was reset, so the site may show a later deployment/);
        assert.notEqual(result.deployments[0]?.evidence, 'identity');
      }),
    );
});
