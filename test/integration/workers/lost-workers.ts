import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, describe, test } from 'node:test';
import * as around from '../../support/around-post.ts';
import type { Belay } from '../../../src/starter.ts';
import { replayLater } from '../../support/replay.ts';
import { assertNowhere } from '../../support/token.ts';
import { TOKEN, type TestStack } from '../../support/world.ts';

const { another, ANSWERED_LATE, assertEnd, backUp, deploy, FOUND, kill, ONCE, place, readSincePost } = around;
const { once, RESENT, sent, WITHOUT_EFFECT } = around;

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

// Most of them wait, so they run at once.
describe('a worker lost around a POST', { concurrency: 5 }, () => {
  test('a deployment POST without effect is sent once more if its worker is killed and the site is still read', async () => {
    const { queue, worker, belay } = await place();
    // The gap between reads leaves time for another worker to start.
    const operation = await deploy(belay, WITHOUT_EFFECT, { intervalMs: 20_000, settleMs: 10_000 });
    await sent(operation);
    await readSincePost(operation);
    await kill(worker);
    await another(queue);
    await assertEnd(operation, { trigger: RESENT, effects: 1 });
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
