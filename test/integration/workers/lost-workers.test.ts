import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { siteTarget } from '../../../src/contract/target.ts';
import { TIMING } from '../../../src/contract/timing.ts';
import type { Belay } from '../../../src/starter.ts';
import * as around from '../../support/around-post.ts';
import type { Operation } from '../../support/around-post.ts';
import { eventually } from '../../support/eventually.ts';
import { holdPosts, type HoldingRelay } from '../../support/holding-relay.ts';
import { posts } from '../../support/journal.ts';
import { once } from '../../support/once.ts';
import { resultOf } from '../../support/outcome.ts';
import { replayLater } from '../../support/replay-later.ts';
import { assertNowhere } from '../../support/token.ts';
import { addWorker, belayOn, fresh, TOKEN, type TestStack } from '../../support/world.ts';
import { killed, stopped } from './shared-workers.ts';

const { ANSWERED, assertEnd, deploy, FOUND, hintedToItsEnd, kill, ONCE, readSincePost, RESENT } = around;

let world: TestStack;
before(async () => {
  world = await around.startTestTemporal();
  for (const begin of [killed, stopped, killedWhileRead]) begin().catch(() => undefined);
});

/** The gap between reads leaves another worker a minute to start. Hints then bring reads long before it is over. */
const RARELY = { intervalMs: 60_000, settleMs: 10_000 };

/** Two deployments whose POSTs never arrive. The site of one is frozen before another worker decides what follows. */
const killedWhileRead = once(async () => {
  const relay = await holdPosts(world.sandbox.url);
  const queue = fresh('queue');
  const worker = await around.workerProcess(queue, { BELAY_API_URL: relay.url });
  const belay = await belayOn(world, queue);
  // A worker of another queue, which sends none of these requests. Nothing reads them until the next one starts.
  const elsewhere = fresh('queue');
  await addWorker(world, elsewhere, relay.url);
  const freezing = await belayOn(world, elsewhere);
  const [sentAgain, frozen] = await bothReadInTime(belay, relay);
  await kill(worker);
  await freezing.freezes.begin({ scope: siteTarget(frozen.target), reason: 'disks', forMs: 3_600_000 });
  relay.letPass();
  await addWorker(world, queue, relay.url);
  await Promise.all([sentAgain, frozen].map(hintedToItsEnd));
  return { sentAgain, frozen };
});

/** A busy machine may read too late after a POST: then two others are begun. */
async function bothReadInTime(belay: Belay, relay: HoldingRelay): Promise<[Operation, Operation]> {
  for (let posts = 2; ; posts += 2) {
    const begin = () => deploy(belay, ANSWERED, RARELY);
    const both = await Promise.all([begin(), begin()]);
    await eventually('both POSTs', () => relay.held === posts);
    const readAfterMs = await Promise.all(both.map(readSincePost));
    if (readAfterMs.every((ms) => ms <= TIMING.verdict.coverageSlackMs)) return both;
  }
}

// Most of them wait, so they run at once.
describe('a worker lost around a POST', { concurrency: 5 }, () => {
  test('a deployment POST without effect is sent once more if its worker is killed and the site is still read', async () => {
    const { sentAgain } = await killedWhileRead();
    await assertEnd(sentAgain, { trigger: RESENT, effects: 1, sent: 1 });
  });

  test('a deployment POST is not sent again if a freeze began after its worker judged it, and before it was killed', async () => {
    const { frozen } = await killedWhileRead();
    const { outcome, error } = await resultOf(frozen.run);
    assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown'], error?.message);
    assert.match(error?.message ?? '', /not sent: frozen by "freeze:site:/);
    assert.equal(posts(world.sandbox, frozen.path).length, 0);
  });

  test('a deployment POST without effect ends unknown if its worker is killed and reads are interrupted', async () => {
    const operation = (await killed()).operations[3]!;
    const unknown = { outcome: 'unknown', trigger: { ...FOUND, reconciledBy: null }, effects: 0 };
    assert.match(await assertEnd(operation, unknown), /the status was not read for a while/);
  });

  test('a deployment POST that took effect is found by its trace if its worker is killed', async () => {
    const [operation] = (await killed()).operations;
    await assertEnd(operation!, { trigger: FOUND, effects: 1 });
  });

  for (const [index, what, effects] of [
    [1, 'that took effect', 2],
    [2, 'without effect', 1],
  ] as const) {
    test(`a backup POST ${what} leads to another backup if its worker is killed`, async () => {
      const { operations } = await killed();
      await assertEnd(operations[index]!, { trigger: RESENT, effects });
    });
  }

  for (const [index, kind] of ['deployment', 'backup'].entries()) {
    test(`a ${kind} POST finishes and is not ambiguous if its worker gets SIGTERM`, async () => {
      const { operations, worker } = await stopped();
      await assertEnd(operations[index]!, { trigger: ONCE, effects: 1 });
      assert.equal((await worker.finished).code, 0);
    });
  }
});

test('the token is in no history, log, file or error of these tests', async () => {
  assertNowhere(TOKEN, await around.whatIsLeft(), 'polling');
});

// With those of the other suites, which are on the same server.
replayLater('lost, stalled and unfit workers', () => world.client, 12);
