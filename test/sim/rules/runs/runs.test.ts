/** The steps of a run in their order, and what a step that does not complete leaves undone. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SIGNALS } from '../../../../src/contract/names.ts';
import { fresh } from '../../../support/fresh.ts';
import { began, posts, reads } from '../../../support/journal.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import { building } from './runs-that-wait.ts';

const FAILS = { durationMs: 60_000, ends: 'failed' };

describe('runs', () => {
  test(
    'deploys nothing before it has read the backup as completed',
    inVirtualTime(async ({ sandbox, start, result }) => {
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      sandbox.script({ server: serverId }, { durationMs: 100_000 });
      await result(start({ serverId, siteIds: [siteId] }));
      const { journal } = sandbox;
      const backupId = began(sandbox, 'backup', serverId)[0]?.began?.id;
      const completed = journal.findIndex(
        ({ request, said }) => request === `GET /v1/backups/${backupId}` && said === 'completed',
      );
      const deployed = journal.findIndex(({ request }) => request === `POST /v1/sites/${siteId}/deploy`);
      assert.ok(completed >= 0 && completed < deployed);
    }),
  );

  test(
    'deploys nothing if the backup fails, and reports why',
    inVirtualTime(async ({ sandbox, start, result: resultOf }) => {
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      sandbox.script({ server: serverId }, FAILS);
      const result = await resultOf(start({ serverId, siteIds: [siteId] }));
      assert.equal(result.outcome, 'failed');
      assert.equal(result.error?.type, 'BackupFailed');
      assert.equal(result.deployments[0]?.outcome, 'not_started');
      assert.equal(result.deployments[0]?.polls, 0);
      assert.equal(posts(sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
    }),
  );

  test(
    'deploys nothing if the backup is not completed after exactly the given tries, and does not wait after the last one',
    inVirtualTime(async ({ sandbox, start, result: resultOf }) => {
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      sandbox.script({ server: serverId }, { ends: 'never', words: ['copying'] });
      const run = start({ serverId, siteIds: [siteId], backup: { intervalMs: 60_000, tries: 45 } });
      const result = await resultOf(run);
      assert.equal(result.outcome, 'timed_out');
      assert.equal(result.error?.type, 'BackupTimedOut');
      assert.equal(result.backup?.lastStatus, 'copying');
      const made = reads(sandbox, `/v1/backups/${result.backup?.backupId}`).map(({ at }) => Date.parse(at));
      const originMs = Date.parse(result.backup?.acceptedAt ?? '');
      assert.deepEqual(
        made.map((ms) => Math.round((ms - originMs) / 1_000)),
        Array.from({ length: 45 }, (_, index) => 60 * (index + 1)),
      );
      assert.ok(run.closedMs! - made.at(-1)! < 1_000);
      assert.equal(posts(sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
    }),
  );

  test(
    'fails with the error of a failed deployment',
    inVirtualTime(async ({ sandbox, start, result: resultOf }) => {
      const siteId = fresh('a');
      sandbox.script({ site: siteId }, FAILS);
      const result = await resultOf(start({ siteIds: [siteId] }));
      assert.equal(result.outcome, 'failed');
      assert.equal(result.error?.type, 'DeploymentFailed');
      assert.equal(result.backup, null);
    }),
  );

  test(
    'stops at the first site that is not completed and leaves the others not started',
    inVirtualTime(async ({ sandbox, start, result }) => {
      const [first, second] = [fresh('a'), fresh('a')];
      sandbox.script({ site: first }, FAILS);
      const { deployments } = await result(start({ siteIds: [first, second] }));
      assert.deepEqual(
        deployments.map(({ outcome }) => outcome),
        ['failed', 'not_started'],
      );
      assert.equal(posts(sandbox, `/v1/sites/${second}/deploy`).length, 0);
    }),
  );

  test(
    'continues after a failed site with keepGoing',
    inVirtualTime(async ({ sandbox, start, result }) => {
      const [first, second] = [fresh('a'), fresh('a')];
      sandbox.script({ site: first }, FAILS);
      const { outcome, deployments } = await result(start({ siteIds: [first, second], keepGoing: true }));
      assert.deepEqual(
        deployments.map((it) => it.outcome),
        ['failed', 'completed'],
      );
      assert.equal(outcome, 'failed');
    }),
  );

  test(
    'a run ignores malformed signals and continues',
    inVirtualTime(async (stack) => {
      const { sandbox, signal, result } = stack;
      const { siteId, run, operationId } = await building(stack);
      const rubbish = [[], [null], ['x'], [{}], [{ waiters: 'x' }], [{ waiters: [null, {}, { workflowId: 1 }] }]];
      for (const args of rubbish) {
        for (const name of Object.values(SIGNALS)) {
          for (const workflowId of [operationId, run.workflowId]) signal(workflowId, name, ...args);
        }
      }
      await stack.forward(1_000);
      sandbox.finish({ site: siteId }, 'completed');
      assert.equal((await result(run)).outcome, 'completed');
    }),
  );
});
