/** Answers that look like proof of a verdict, and are none. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { emptyBackup } from '../../../../src/contract/results.ts';
import { SIGNALS } from '../../../../src/contract/names.ts';
import { backupServerId } from '../../../../src/contract/ids.ts';
import type { Fault } from '../../../../src/sandbox/faults.ts';
import type { ScriptPart } from '../../../../src/sandbox/script.ts';
import { fresh } from '../../../support/fresh.ts';
import { began, posts, reads } from '../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { verdictLine } from '../../../support/verdict-line.ts';
import { lockRequests } from '../../stack/inspect.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import { namedSite } from './named-site.ts';

const latest = (siteId: string) => `/v1/sites/${siteId}/deployments/latest`;

const NOT_FOUND: [what: string, type: string, text: string][] = [
  ['an HTML 404', 'text/html', '<h1>Not Found</h1>'],
  ['a JSON 404', 'application/json', '{"message":"Not found."}'],
];

describe('doubtful answers', () => {
  for (const [what, type, text] of NOT_FOUND) {
    for (const skip of [0, 1]) {
      const read = skip === 0 ? 'first' : 'second';
      test(
        `${what} at the ${read} read does not hide the last deployment: ours failed, and failed is the verdict`,
        inVirtualTime(async ({ sandbox, start, result }) => {
          // The service shows our deployment late, so yesterday's `completed` is read after the trigger.
          const ours: ScriptPart = { durationMs: 0, ends: 'failed', lagMs: 35_000 };
          const siteId = siteAfter(sandbox, COMPLETED, ours);
          const answer = { kind: 'body', code: 404, type, text } as const;
          const once: Fault = { route: 'latest', target: siteId, skip, answer };
          sandbox.fault(once);
          assert.equal(verdictLine(await result(start({ siteIds: [siteId] }))), 'failed by changed');
          assert.equal(posts(sandbox, `/v1/sites/${siteId}/deploy`).length, 1);
        }),
      );
    }
  }

  test(
    'a site that answers an HTML 404 to every read is not deployed',
    inVirtualTime(async ({ sandbox, start, result }) => {
      const siteId = fresh('a');
      const answer = { kind: 'body', code: 404, type: 'text/html', text: '<h1>Not Found</h1>' } as const;
      sandbox.fault({ route: 'latest', target: siteId, times: 999, answer });
      assert.equal(verdictLine(await result(start({ siteIds: [siteId] }))), 'not_started by Refused');
      assert.equal(posts(sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
    }),
  );

  for (const field of ['commit', 'created_at']) {
    test(
      `a push with the same ${field} as our trigger is not taken for our deployment`,
      inVirtualTime(async ({ sandbox, start, result }) => {
        const siteId = namedSite(sandbox, {
          old: { status: 'completed', [field]: 'old' },
          answered: { [field]: 'ours' },
          now: { status: 'completed', [field]: 'ours' },
        });
        const run = start({ siteIds: [siteId], deploy: { minEvidence: 'identity' } });
        assert.equal(verdictLine(await result(run)), 'unknown by settled');
      }),
    );
  }

  test(
    'a run does not deploy on the word of a release that names a backup the service does not know',
    inVirtualTime(async ({ world, sandbox, start, result, until, signal }) => {
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      const lockId = backupServerId(serverId);
      sandbox.script({ server: serverId }, { ends: 'never' });
      start({ serverId, siteIds: [] });
      await until('the backup', () => began(sandbox, 'backup', serverId).length > 0);
      const run = start({ serverId, siteIds: [siteId] });
      await until('the queue', () => lockRequests(world.server.find(lockId)) > 0);
      const invented = { ...emptyBackup(serverId, 'created'), backupId: 'invented', outcome: 'completed' };
      const released = { lockId, waiters: [], backup: { result: invented, error: null } };
      signal(run.workflowId, SIGNALS.lockReleased, released);
      assert.equal((await result(run)).outcome, 'not_started');
      assert.equal(posts(sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
    }),
  );

  test(
    '--backup-id with a backup that Belay made of another server is refused, and nothing is deployed',
    inVirtualTime(async ({ sandbox, start, result }) => {
      const [mine, other, siteId] = [fresh('s'), fresh('s'), fresh('a')];
      const made = await result(start({ serverId: other, siteIds: [] }));
      const backupId = made.backup?.backupId ?? '';
      const { outcome, error } = await result(start({ serverId: mine, siteIds: [siteId], backup: { backupId } }));
      assert.deepEqual([outcome, error?.type], ['not_started', 'Usage']);
      assert.match(error?.message ?? '', new RegExp(`${backupId} is one of server ${other}, not of ${mine}`));
      assert.equal(posts(sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
    }),
  );

  test(
    'a run keeps the field that has the id from when it began, even if the next worker has another one configured',
    inVirtualTime(
      async ({ world, sandbox, start, result, until, forward }) => {
        const body = (status: string, number: number, job: number) => ({ status, id: job, data: { number } });
        const siteId = namedSite(sandbox, {
          ...{ old: body('completed', 1, 7), answered: body('queued', 2, 8) },
          now: [body('running', 2, 9), body('running', 2, 9), body('failed', 2, 9)],
        });
        const run = start({ siteIds: [siteId] });
        await until('a read in progress', () => reads(sandbox, latest(siteId)).length > 2);
        await forward(1_000);
        world.endWorkers();
        world.addWorker({ deploymentId: 'none' });
        assert.equal(verdictLine(await result(run)), 'failed by identity');
      },
      { configuration: { deploymentId: 'data.number' } },
    ),
  );

  const statuses = { deployment: { superseded: 'failed' }, backup: {} } as const;
  test(
    'a run keeps the meaning of a status word from when it began, even if the next worker maps it otherwise',
    inVirtualTime(
      async ({ world, sandbox, start, result, until, forward }) => {
        const siteId = siteAfter(sandbox, FAILED, { ends: 'never', words: ['building'] });
        const run = start({ siteIds: [siteId] });
        await until('a read in progress', () => reads(sandbox, latest(siteId)).at(-1)?.said === 'building');
        await forward(1_000);
        world.endWorkers();
        world.addWorker({ statuses: { deployment: {}, backup: {} } });
        sandbox.finish({ site: siteId }, 'superseded');
        assert.equal(verdictLine(await result(run)), 'failed by transition');
      },
      { statuses },
    ),
  );
});
