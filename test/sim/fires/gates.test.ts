/** The checks of freezes and of the sites' own checks find what is changed in a play. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Payload } from '@temporalio/common';
import { deploySiteId } from '../../../src/contract/ids.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import type { PlayedFreeze } from '../../model/record.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { sentFrozen } from '../checks/frozen-requests.ts';
import { misjudged } from '../checks/site-verdicts.ts';
import { inVirtualTime } from '../stack/stack.ts';
import { SITES_URL } from '../worker/sites.ts';
import { asPlayed, change } from './changed.ts';

const SHOWN = '3f2c1ab0d9e8';

test('S15: a deployment that completes without the good reads of its check is a finding', () =>
  inVirtualTime(
    async ({ world, sandbox, start, result }) => {
      const parts = [
        { ...FAILED, commit: 'aaaaaaa0000' },
        { ...COMPLETED, commit: SHOWN },
      ];
      sandbox.script({ site: 'shop' }, ...parts);
      sandbox.act({ site: 'shop' });
      await result(start({ siteIds: ['shop'], commit: SHOWN }));
      assert.deepEqual(misjudged(world), []);
      const { history } = world.server.find(deploySiteId('shop'))!;
      const reads = history.flatMap((it) => (it.kind === 'activityClosed' && it.type === 'checkSite' ? [it] : []));
      const last = reads.at(-1)!.outcome as { result: Payload };
      assert.ok(change(last.result, /"kind":"holds"/, '"kind":"fails"'));
      assert.match(misjudged(world).join('\n'), /^S15: deploy-site:shop completed without 3 good reads in a row/m);
    },
    {
      configuration: {
        sites: { shop: { url: `${SITES_URL}/shop/`, check: 'answers' } },
        checks: { answers: { commit: { json: 'commit' } } },
      },
    },
  )());

test('S14: a request that is scheduled in a freeze is a finding, unless the run was let off', () =>
  inVirtualTime(async ({ world, sandbox, start, result }) => {
    const siteId = siteAfter(sandbox, FAILED, COMPLETED);
    const run = start({ siteIds: [siteId] });
    await result(run);
    const { workflowId, runId, startedMs: fromMs } = run;
    const freeze = {
      name: 'stock',
      target: siteId,
      fromMs,
      toMs: fromMs + 600_000,
      backups: false,
      override: 'reason',
    };
    const sent = (freezes: object[], input: RunInput = {}) =>
      sentFrozen({
        world,
        played: {
          ...{ freezes: freezes as PlayedFreeze[], journal: world.service.state.journal },
          runs: [{ ...asPlayed(run, { siteIds: [siteId], ...input }), workflowId, runId }],
        },
      });
    assert.deepEqual([sent([]), sent([{ ...freeze, target: 'other' }])], [[], []]);
    assert.deepEqual(sent([freeze], { override: { freezes: ['stock'], reason: 'CVE' } }), []);
    assert.match(sent([freeze]).join('\n'), /^S14: deploy:\S+ sent .*, scheduled in the freeze stock$/m);
  })());
