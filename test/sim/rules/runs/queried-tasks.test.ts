/**
 * An answer to a query that comes with a task would end it while its local activity runs (workflows/hold-answers.ts), and
 * the rest would replay in another portion than it was made in. Without a cache, every task replays all before it.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fresh } from '../../../support/fresh.ts';
import { posts } from '../../../support/journal.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import { seededTape } from '../../tape.ts';

const QUERIED = () => ({ queries: 4, cacheSize: 0, tape: seededTape(1) });
const PACE = { intervalMs: 1_000, tries: 60 };

describe('a run whose tasks are asked for its progress while they read', () => {
  test(
    'replays as it was made, and ends as ever',
    inVirtualTime(async ({ world, sandbox, start, result }) => {
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      sandbox.script({ server: serverId }, { durationMs: 60_000 });
      sandbox.script({ site: siteId }, { durationMs: 60_000, words: ['queued', 'building'] });
      assert.equal((await result(start({ serverId, siteIds: [siteId] }))).outcome, 'completed');
      assert.ok(world.seen.has('a task with a local activity is queried'));
    }, QUERIED()),
  );

  test(
    'replays as it was made if the answer of a request comes while a read is in progress',
    inVirtualTime(async ({ sandbox, start, result }) => {
      // The answers come at all moments of a read.
      for (let delayMs = 1_000; delayMs < 1_240; delayMs += 20) {
        const siteId = fresh('a');
        sandbox.script({ site: siteId }, { durationMs: 0, ends: 'completed' });
        sandbox.fault({ route: 'latest', target: siteId, answer: { kind: 'true' }, delayMs: 120, times: 1_000 });
        sandbox.fault({ route: 'deploy', target: siteId, answer: { kind: 'true' }, delayMs });
        assert.equal((await result(start({ siteIds: [siteId], deploy: PACE }))).outcome, 'completed');
        assert.equal(posts(sandbox, `/v1/sites/${siteId}/deploy`).length, 1);
      }
    }, QUERIED()),
  );
});
