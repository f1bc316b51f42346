/** What proves no verdict, as far as Temporal and the configuration answer. More is in test/sim/rules/verdicts. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { posts } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { fresh, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 500, tries: 60 };

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

// Each test has sites and servers of its own, and most of them wait, so they run at once.
describe('doubtful answers', { concurrency: 2 }, () => {
  test('--backup-id with a backup that Belay made of another server is refused, and nothing is deployed', async () => {
    const [mine, other, siteId] = [fresh('s'), fresh('s'), fresh('a')];
    const made = await resultOf(await world.belay.start({ serverId: other, siteIds: [], backup: PACE }));
    const backupId = made.backup?.backupId ?? '';
    const run = await world.belay.start({
      serverId: mine,
      siteIds: [siteId],
      backup: { ...PACE, backupId },
      deploy: PACE,
    });
    const { outcome, error } = await resultOf(run);
    assert.deepEqual([outcome, error?.type], ['not_started', 'Usage']);
    assert.match(error?.message ?? '', new RegExp(`${backupId} is one of server ${other}, not of ${mine}`));
    assert.equal(posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
  });
});
