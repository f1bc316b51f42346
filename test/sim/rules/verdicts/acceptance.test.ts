/** What a run reads besides its own beat after the acceptance. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SIGNALS } from '../../../../src/contract/names.ts';
import { deploySiteId } from '../../../../src/contract/ids.ts';
import type { ScriptPart } from '../../../../src/sandbox/script.ts';
import { began, reads } from '../../../support/journal.ts';
import { COMPLETED, siteAfter } from '../../../support/sites.ts';
import { verdictLine } from '../../../support/verdict-line.ts';
import { inVirtualTime } from '../../stack/stack.ts';

/** Reads 1, 3, 10 and 20 s after the acceptance, so that the settle time is over before four of them. */
const SPARSE = { settleMs: 10_000 };
/** Shown between the third and the fourth of these reads. */
const OURS: ScriptPart = { durationMs: 0, ends: 'failed', lagMs: 16_000 };

const latest = (siteId: string) => `/v1/sites/${siteId}/deployments/latest`;

describe('a run', () => {
  test(
    'reads during the request do not settle the status from before it',
    inVirtualTime(async ({ sandbox, start, result, until }) => {
      const siteId = siteAfter(sandbox, COMPLETED, OURS);
      sandbox.fault({ route: 'deploy', target: siteId, answer: { kind: 'true' }, delayMs: 2_500 });
      const run = start({ siteIds: [siteId], deploy: SPARSE });
      await until('the deployment', () => began(sandbox, 'deployment', siteId).length > 0);
      const before = reads(sandbox, latest(siteId)).length;
      const { deployments } = await result(run);
      const requestEndedAt = deployments[0]?.acceptedAt ?? '';
      assert.ok(
        reads(sandbox, latest(siteId))
          .slice(before)
          .some(({ at }) => at < requestEndedAt),
      );
      assert.deepEqual([deployments[0]?.outcome, deployments[0]?.evidence], ['failed', 'changed']);
    }),
  );

  test(
    'hinted reads do not settle the status from before the request',
    inVirtualTime(async ({ sandbox, start, result, until, signal }) => {
      const siteId = siteAfter(sandbox, COMPLETED, OURS);
      const run = start({ siteIds: [siteId], deploy: SPARSE });
      await until('the deployment', () => began(sandbox, 'deployment', siteId).length > 0);
      for (let hints = 0; hints < 5; hints += 1) {
        const before = reads(sandbox, latest(siteId)).length;
        signal(deploySiteId(siteId), SIGNALS.hint);
        await until('the hinted read', () => reads(sandbox, latest(siteId)).length > before);
      }
      assert.equal(verdictLine(await result(run)), 'failed by changed');
    }),
  );

  test(
    'three JSON 404s after a status do not make the next status ours by change',
    inVirtualTime(async ({ sandbox, start, result }) => {
      const siteId = siteAfter(sandbox, COMPLETED, COMPLETED);
      const notFound = { kind: 'body', code: 404, type: 'application/json', text: '{"message":"Not found."}' } as const;
      sandbox.fault({ route: 'latest', target: siteId, skip: 1, times: 3, answer: notFound });
      assert.equal(verdictLine(await result(start({ siteIds: [siteId] }))), 'completed by settled');
    }),
  );
});
