/** Each way a real connection ends, or a worker reads an answer. What follows is tested in test/sim/rules/answers. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { TIMING } from '../../../src/contract/timing.ts';
import { page, status } from '../../support/fault-answers.ts';
import { began, posts } from '../../support/journal.ts';
import { resultOf, SAID } from '../../support/outcome.ts';
import {
  ACCEPTED,
  assertEnd,
  FOUND,
  REFUSED,
  RESENT,
  TURNED_AWAY,
  unclearEnds,
  type Expected,
  type Post,
} from '../../support/post-ends.ts';
import { replayLater } from '../../support/replay-later.ts';
import { workerLog } from '../../support/runtime.ts';
import { heldBackStack } from '../../support/shared-stack.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { fresh, TOKEN, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 1_000, tries: 60 };

let world: TestStack;
before(async () => {
  world = await heldBackStack();
});

/** Sends a site's POST into these faults. Its last deployment failed, so a completed one leaves a lasting trace. */
async function deploy(faults: Post[], expected: Expected): Promise<void> {
  const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
  world.sandbox.fault(...faults.map((fault): Fault => ({ ...fault, route: 'deploy', target: siteId })));
  const run = await world.belay.start({
    siteIds: [siteId],
    deploy: { ...PACE, settleMs: TIMING.verdict.minSettleMs },
  });
  const result = await resultOf(run);
  assertEnd(result, result.deployments[0]!, expected, {
    effects: began(world.sandbox, 'deployment', siteId).length,
    sent: posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length,
  });
}

async function backUp(faults: Post[], expected: Expected): Promise<void> {
  const serverId = fresh('s');
  world.sandbox.fault(...faults.map((fault): Fault => ({ ...fault, route: 'create-backup', target: serverId })));
  const result = await resultOf(await world.belay.start({ serverId, siteIds: [], backup: PACE }));
  assertEnd(result, result.backup!, expected, {
    effects: began(world.sandbox, 'backup', serverId).length,
    sent: posts(world.sandbox, `/v1/servers/${serverId}/backups`).length,
  });
}

const UNCLEAR = unclearEnds(TOKEN);

// Each test has sites and servers of its own, and most of them wait, so they run at once. The longest waits come first.
describe('how a POST ends', { concurrency: 8 }, () => {
  test('a deployment POST answered 500 is sent once more after the settle time if it had no effect', () =>
    deploy([status(500)], RESENT));
  for (const [what, post] of UNCLEAR) {
    test(`a deployment POST ${what} is found by its trace and not repeated if it took effect`, () =>
      deploy([{ ...post, effect: true }], FOUND));
  }
  test('a backup POST answered without an id leads to another backup, with the first as a spare', () =>
    backUp([{ ...page('application/json', '{}', 201), effect: true }], { ...RESENT, effects: 2 }));
  test('a deployment POST answered 422 ends not started and is not repeated', () => deploy([status(422)], REFUSED));
  test('a backup POST answered 503 with Retry-After is sent again and makes one backup', () =>
    backUp([status(503, '2')], TURNED_AWAY));
  test('a deployment POST answered 404 without JSON ends not started and is not repeated', () =>
    deploy([page('text/html', '<h1>Not Found</h1>', 404)], REFUSED));
  test('a backup POST answered 401 is made once more and makes one backup', () => backUp([status(401)], TURNED_AWAY));
  test('a slow answer to a deployment POST is accepted', () =>
    deploy([{ answer: { kind: 'true' }, delayMs: TIMING.post.answerMs / 2 }], ACCEPTED));
  test('an empty answer to a deployment POST is accepted', () =>
    deploy([{ ...page('text/plain', ''), effect: true }], ACCEPTED));
  test('a numeric backup id is accepted and read as its decimal digits', () =>
    backUp([{ answer: { kind: 'numeric_id' } }], ACCEPTED));
});

test('no redirect in these tests is followed', () => {
  assert.ok(!world.sandbox.journal.some(({ request }) => request.includes('elsewhere')));
});

test('the token is in no history, log or error of these tests, although an answer repeated it', async () => {
  const texts = { ...(await allHistories(world.client)), 'worker log': workerLog(), 'results and errors': SAID.join() };
  assertNowhere(TOKEN, texts, '[token]');
});

// With those of the failed reads, which are on the same stack.
replayLater('ends of POSTs', () => world.client, 34);
