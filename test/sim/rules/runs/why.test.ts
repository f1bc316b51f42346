/** What a run or operation answers to the query `why`. Rollouts are in test/integration/rollouts/why.test.ts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { QUERIES } from '../../../../src/contract/names.ts';
import { workflowLink } from '../../../../src/contract/markdown.ts';
import type { Explanation } from '../../../../src/contract/waiting.ts';
import { page, status } from '../../../support/fault-answers.ts';
import { fresh } from '../../../support/fresh.ts';
import { began } from '../../../support/journal.ts';
import { lockRequests } from '../../stack/inspect.ts';
import { COMPLETED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime, MOMENT_MS } from '../../stack/stack.ts';
import { building } from './runs-that-wait.ts';

describe('the query why', () => {
  test(
    'a run that waits for a lock reports the lock and its holder, also in the details of the UI',
    inVirtualTime(async (stack) => {
      const { world, start, until, forward, query } = stack;
      const { siteId, run: holder, operationId: lock } = await building(stack);
      const waiter = start({ siteIds: [siteId] });
      await until('the queue', () => lockRequests(world.server.find(lock)) > 0);
      await forward(MOMENT_MS);
      const reply = await query<Explanation>(waiter.workflowId, QUERIES.why);
      assert.equal(
        reply.sentence,
        `deployment of ${siteId}: waiting for the lock "${lock}", held by "${holder.workflowId}"`,
      );
      assert.ok(reply.waiting?.kind === 'lock');
      assert.deepEqual([reply.waiting.lockId, reply.waiting.lockedBy], [lock, holder.workflowId]);
      const { currentDetails } = await query<{ currentDetails: string }>(
        waiter.workflowId,
        '__temporal_workflow_metadata',
      );
      const held = `waiting for the lock ${workflowLink(lock)}, held by ${workflowLink(holder.workflowId)}`;
      assert.ok(currentDetails.includes(held), currentDetails);
    }),
  );

  test(
    'an operation reports its current try, its last status and the time of the next read',
    inVirtualTime(async (stack) => {
      const { world, forward, query } = stack;
      const { siteId, run, operationId } = await building(stack);
      await forward(60_000);
      const { sentence, waiting } = await query<Explanation>(operationId, QUERIES.why);
      assert.ok(waiting?.kind === 'deployment');
      const { lastReadAt, nextReadAt } = waiting;
      assert.equal(
        sentence,
        `deployment of ${siteId}: try 7 of 30, last status "building", next read at ${nextReadAt}`,
      );
      assert.ok(Date.parse(lastReadAt ?? '') <= world.clock.nowMs && world.clock.nowMs < Date.parse(nextReadAt));
      const gapMs = Date.parse(nextReadAt) - Date.parse(lastReadAt ?? '');
      assert.ok(Math.abs(gapMs - 10_000) < MOMENT_MS, `${gapMs} ms`);
      assert.equal(
        (await query<Explanation>(run.workflowId, QUERIES.why)).sentence,
        `deployment of ${siteId}: handled by workflow ${operationId}`,
      );
    }),
  );

  test(
    'an operation says of a final status that decides nothing that it may be of an earlier deployment',
    inVirtualTime(async (stack) => {
      const { sandbox, start, forward, query } = stack;
      const siteId = siteAfter(sandbox, COMPLETED, COMPLETED);
      // Accepted and forgotten.
      sandbox.fault({ ...page('application/json', '{}', 200), route: 'deploy', target: siteId });
      start({ siteIds: [siteId] });
      await forward(30_000);
      const { sentence, waiting } = await query<Explanation>(`deploy-site:${siteId}`, QUERIES.why);
      assert.ok(waiting?.kind === 'deployment' && waiting.unproven === true, JSON.stringify(waiting));
      assert.ok(
        sentence.includes('last status "completed", which may be of an earlier deployment, next read'),
        sentence,
      );
    }),
  );

  test(
    'the first deployment of a site reports no failed reads while the service does not show it',
    inVirtualTime(async (stack) => {
      const { sandbox, start, until, forward, query } = stack;
      const siteId = fresh('a');
      sandbox.script({ site: siteId }, { durationMs: 600_000 });
      start({ siteIds: [siteId] });
      await until('the deployment', () => began(sandbox, 'deployment', siteId)[0]);
      sandbox.fault({ route: 'latest', target: siteId, ...page('application/json', '{}', 404), times: 5 });
      await forward(25_000);
      const { waiting } = await query<Explanation>(`deploy-site:${siteId}`, QUERIES.why);
      assert.ok(waiting?.kind === 'deployment');
      assert.deepEqual([waiting.lastStatus, waiting.failing], [null, undefined]);
    }),
  );

  test(
    'an operation whose reads fail reports how many and why, until one is answered',
    inVirtualTime(async (stack) => {
      const { world, forward, query, sandbox } = stack;
      const { siteId, operationId } = await building(stack);
      const why = () => query<Explanation>(operationId, QUERIES.why);
      // The early reads are over.
      await forward(60_000);
      sandbox.fault({ route: 'latest', target: siteId, ...status(500), times: 3 });
      for (const [reads, said] of [
        [1, ', the last read failed: '],
        [2, ', 2 reads in a row failed: '],
        [3, ', 3 reads in a row failed: '],
      ] as const) {
        await forward(10_000);
        const { sentence, waiting } = await why();
        assert.ok(waiting?.kind === 'deployment');
        assert.equal(waiting.failing?.reads, reads);
        assert.match(waiting.failing?.reason ?? '', /: 500 /);
        assert.ok(
          sentence.includes(`last status "building"${said}"${waiting.failing?.reason}", next read at`),
          sentence,
        );
      }
      await forward(10_000);
      const { waiting } = await why();
      assert.ok(waiting?.kind === 'deployment' && waiting.failing === undefined);
      assert.ok(Date.parse(waiting.lastReadAt ?? '') > world.clock.nowMs - 10_000);
    }),
  );
});
