import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, describe, test } from 'node:test';
import * as around from '../../support/around-post.ts';
import { replayAll } from '../../support/replay.ts';
import { assertNowhere } from '../../support/token.ts';
import { TOKEN, type World } from '../../support/world.ts';

const { another, ANSWERED_LATE, assertEnd, backUp, deploy, FOUND, kill, ONCE, place, readSincePost } = around;
const { RESENT, sent, WITHOUT_EFFECT } = around;

let world: World;
before(async () => {
  world = await around.startPlaces();
});

// Each test has a task queue and workers of its own, and most of them wait: they run at once.
describe('a worker lost around a POST', { concurrency: 5 }, () => {
  test('killed during a deployment POST without effect, while the site was watched: sent once more', async () => {
    const { queue, worker, belay } = await place();
    // Between the reads there is time for another worker to come.
    const operation = await deploy(belay, WITHOUT_EFFECT, { intervalMs: 10_000, settleMs: 10_000 });
    await sent(operation);
    await readSincePost(operation);
    await kill(worker);
    await another(queue);
    await assertEnd(operation, { trigger: RESENT, effects: 1 });
  });

  test('killed during a deployment POST without effect, and nobody watched for a while: unknown', async () => {
    const { queue, worker, belay } = await place();
    const operation = await deploy(belay, WITHOUT_EFFECT);
    await sent(operation);
    await kill(worker);
    await sleep(7_000);
    await another(queue);
    const unknown = { outcome: 'unknown', trigger: { ...FOUND, reconciledBy: null }, effects: 0 };
    assert.match(await assertEnd(operation, unknown), /nobody watched for a while/);
  });

  test('killed during a deployment POST that had its effect: found by its trace, one deployment', async () => {
    const { queue, worker, belay } = await place();
    const operation = await deploy(belay, { ...ANSWERED_LATE, delayMs: 7_000 });
    await sent(operation);
    await kill(worker);
    await another(queue);
    await assertEnd(operation, { trigger: FOUND, effects: 1 });
  });

  for (const [post, what, effects] of [
    [{ ...ANSWERED_LATE, delayMs: 7_000 }, 'that had its effect', 2],
    [WITHOUT_EFFECT, 'without effect', 1],
  ] as const) {
    test(`killed during a backup POST ${what}: another backup is made`, async () => {
      const { queue, worker, belay } = await place();
      const operation = await backUp(belay, post);
      await sent(operation);
      await kill(worker);
      await another(queue);
      await assertEnd(operation, { trigger: RESENT, effects });
    });
  }

  for (const [kind, trigger] of [
    ['deployment', deploy],
    ['backup', backUp],
  ] as const) {
    test(`stopped with SIGTERM during a ${kind} POST: it is let finish, and nothing is ambiguous`, async () => {
      const { queue, worker, belay } = await place();
      const operation = await trigger(belay, ANSWERED_LATE);
      await sent(operation);
      worker.process.kill('SIGTERM');
      await another(queue);
      await assertEnd(operation, { trigger: ONCE, effects: 1 });
      assert.equal((await worker.finished).code, 0);
    });
  }
});

test('the token is in no history, log, file or error of these tests', async () => {
  assertNowhere(TOKEN, await around.whatIsLeft(), 'polling');
});

test('every history of these tests is replayed by the workflows without a difference', async () => {
  assert.ok((await replayAll(world.client)) > 5);
});
