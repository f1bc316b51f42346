import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, describe, test } from 'node:test';
import { siteTarget } from '../../../src/contract/target.ts';
import * as around from '../../support/around-post.ts';
import type { Belay } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { holdPosts } from '../../support/holding-relay.ts';
import { posts } from '../../support/journal.ts';
import { once } from '../../support/once.ts';
import { resultOf } from '../../support/outcome.ts';
import { replayLater } from '../../support/replay.ts';
import { addWorker, belayOn, fresh, type TestStack } from '../../support/world.ts';

const { another, ANSWERED, ANSWERED_LATE, assertEnd, backUp, deploy, FOUND, kill, ONCE, place, readSincePost } = around;
const { RESENT, sent, WITHOUT_EFFECT } = around;

let world: TestStack;
before(async () => {
  world = await around.startTestTemporal();
});

const SLOW = { ...ANSWERED_LATE, delayMs: 7_000 };
/** Reads count as interrupted after it, whether another worker then starts quickly or not. */
const INTERRUPTION_MS = 7_000;

/** Their POSTs are under way when their worker ends, and after a pause another worker continues. */
async function losing(
  signal: NodeJS.Signals,
  pauseMs: number,
  ...starts: ((belay: Belay) => Promise<around.Operation>)[]
) {
  const { queue, worker, belay } = await place();
  const operations = await Promise.all(starts.map((start) => start(belay)));
  await Promise.all(operations.map((operation) => sent(operation)));
  worker.process.kill(signal);
  // A killed worker has gone before another one starts. One that stops may meet it.
  if (signal === 'SIGKILL') await worker.finished;
  await sleep(pauseMs);
  await another(queue);
  return { operations, worker };
}

// Workers are expensive, so tests whose workers end in the same way share one.
const killed = once(() =>
  losing(
    'SIGKILL',
    INTERRUPTION_MS,
    (belay) => deploy(belay, SLOW),
    (belay) => backUp(belay, SLOW),
    (belay) => backUp(belay, WITHOUT_EFFECT),
    (belay) => deploy(belay, WITHOUT_EFFECT),
  ),
);
const stopped = once(() =>
  losing(
    'SIGTERM',
    0,
    (belay) => deploy(belay, ANSWERED_LATE),
    (belay) => backUp(belay, ANSWERED_LATE),
  ),
);

/** Two deployments whose POSTs never arrive. The site of one is frozen before another worker decides what follows. */
const killedWhileRead = once(async () => {
  const relay = await holdPosts(world.sandbox.url);
  const queue = fresh('queue');
  const worker = await around.workerProcess(queue, { BELAY_API_URL: relay.url });
  const belay = await belayOn(world, queue);
  // The gap between reads leaves time for another worker to start.
  const begin = () => deploy(belay, ANSWERED, { intervalMs: 20_000, settleMs: 10_000 });
  const [sentAgain, frozen] = await Promise.all([begin(), begin()]);
  await eventually('both POSTs', () => relay.held === 2);
  await Promise.all([sentAgain, frozen].map(readSincePost));
  await kill(worker);
  await belay.freezes.begin({ scope: siteTarget(frozen.target), reason: 'disks', forMs: 3_600_000 });
  relay.letPass();
  await addWorker(world, queue, relay.url);
  return { sentAgain, frozen };
});

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

// With those of the other suites, which are on the same server.
replayLater('lost, stalled and unfit workers', () => world.client, 12);
