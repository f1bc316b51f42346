import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, describe, test } from 'node:test';
import * as around from '../../support/around-post.ts';
import { eventually } from '../../support/eventually.ts';
import { replayAll } from '../../support/replay.ts';
import { assertNowhere } from '../../support/token.ts';
import { TOKEN, type World } from '../../support/world.ts';

const { another, ANSWERED_LATE, assertEnd, backUp, deploy, FOUND, givenToStopped, kill, ONCE } = around;
const { pending, place, RESENT, sent, watchedOnly } = around;

let world: World;
before(async () => {
  world = await around.startPlaces();
});

// Each test has a task queue and workers of its own, and most of them wait: they run at once.
describe('a worker stalled or away around a POST', { concurrency: 5 }, () => {
  test('stopped before it sent a deployment POST, and going on later: the late POST is not sent', async () => {
    const { operation, worker } = await givenToStopped();
    await eventually('the POST was given up', async () => (await pending(operation)) === undefined);
    worker.process.kill('SIGCONT');
    await assertEnd(operation, { trigger: RESENT, effects: 1, sent: 1 });
  });

  test('dead when it was given a deployment POST: sent once more by another worker, one deployment', async () => {
    const { operation, worker, queue } = await givenToStopped();
    await kill(worker);
    await another(queue);
    await assertEnd(operation, { trigger: RESENT, effects: 1, sent: 1 });
  });

  for (const [kind, trigger, report, effects] of [
    ['deployment', deploy, FOUND, 1],
    ['backup', backUp, RESENT, 2],
  ] as const) {
    test(`stalled after it sent a ${kind} POST, until it was given up: ambiguous, ${effects} at the service`, async () => {
      const { worker, belay } = await place();
      const operation = await trigger(belay, { ...ANSWERED_LATE, delayMs: 1_000 });
      await sent(operation);
      worker.process.kill('SIGSTOP');
      await eventually('the POST was given up', async () => (await pending(operation)) === undefined);
      worker.process.kill('SIGCONT');
      await assertEnd(operation, { trigger: report, effects });
    });
  }

  test('away when a deployment POST was due: it is not sent late, but again, and nothing is ambiguous', async () => {
    const { operation, queue } = await watchedOnly();
    await eventually('the POST waits', async () => (await pending(operation)) !== undefined);
    await sleep(3_500);
    await another(queue);
    await assertEnd(operation, { trigger: { ...ONCE, attempts: 2 }, effects: 1, sent: 1 });
  });
});

test('the token is in no history, log, file or error of these tests', async () => {
  assertNowhere(TOKEN, await around.whatIsLeft(), 'polling');
});

test('every history of these tests is replayed by the workflows without a difference', async () => {
  assert.ok((await replayAll(world.client)) > 5);
});
