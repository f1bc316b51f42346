import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, describe, test } from 'node:test';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { awaitedForMs } from '../../../src/client/lookups/awaited-for.ts';
import * as around from '../../support/around-post.ts';
import { once } from '../../support/once.ts';
import { resultOf } from '../../support/outcome.ts';
import { eventually } from '../../support/eventually.ts';
import { assertNowhere } from '../../support/token.ts';
import { TOKEN } from '../../support/world.ts';

const { another, ANSWERED, ANSWERED_LATE, assertEnd, backUp, deploy, FOUND, givenToStopped, ONCE } = around;
const { pending, postEvents, RESENT, sent, takePost, watchedOnly } = around;

const HOUR_MS = 3_600_000;

const timedOut = (operation: around.Operation) =>
  eventually('the timeout of the POST', async () => (await pending(operation)) === undefined);

/** A worker that continues after a POST that it was given, and did not send, has timed out. */
const continued = (clockAheadMs: number) =>
  once(async () => {
    const given = await givenToStopped(clockAheadMs);
    await timedOut(given.operation);
    given.worker.process.kill('SIGCONT');
    return given;
  });

/** Workers are expensive, so tests share them, one for each clock. */
const WORKERS = { right: continued(0), behind: continued(-HOUR_MS) };

/** The same worker, once it is the only one and has nothing left to do. */
async function restored(clock: keyof typeof WORKERS) {
  const { operation, stopWatching, worker, belay } = await WORKERS[clock]();
  await resultOf(operation.run);
  await stopWatching();
  return { worker, belay };
}

/** A deployment whose worker stops for a moment after it sent its POST. */
const stoppedForAMoment = once(async () => {
  const { worker, belay } = await restored('right');
  const operation = await deploy(belay, { ...ANSWERED_LATE, delayMs: 7_000 });
  await sent(operation);
  // Four seconds between heartbeats, the first after one, would leave the next one to the time of the stall.
  await sleep(4_200);
  worker.process.kill('SIGSTOP');
  await sleep(2_200);
  worker.process.kill('SIGCONT');
  return { operation, worker, belay };
});

/** A deployment and a backup whose worker stops after it sent their POSTs, until they have timed out. */
const stoppedAfterSending = once(async () => {
  const { operation, worker, belay } = await stoppedForAMoment();
  await resultOf(operation.run);
  const operations = await Promise.all([deploy(belay, ANSWERED_LATE), backUp(belay, ANSWERED_LATE)]);
  await Promise.all(operations.map((operation) => sent(operation)));
  worker.process.kill('SIGSTOP');
  await Promise.all(operations.map(timedOut));
  worker.process.kill('SIGCONT');
  return operations;
});

before(async () => {
  await around.startTestTemporal();
  // They wait for timeouts of Temporal, which pass beside the tests of other suites as well.
  for (const begin of Object.values(WORKERS)) begin().catch(() => undefined);
});

// Most of them wait, so they run at once.
describe('a worker stalled or absent around a POST', { concurrency: 5 }, () => {
  for (const [what, clock] of [
    ['the right clock', 'right'],
    ['a clock that is an hour behind', 'behind'],
  ] as const) {
    test(`a deployment POST is not sent late if its worker, with ${what}, stalls before sending it`, async () => {
      const { operation } = await WORKERS[clock]();
      await assertEnd(operation, { trigger: RESENT, effects: 1, sent: 1 });
    });
  }

  test('a worker whose clock is an hour behind deploys and backs up as any other, and reports it', async () => {
    const { worker, belay } = await restored('behind');
    assert.match(worker.output.stderr, /clock is 3(599|600|601)\.\d s behind/);
    await assertEnd(await deploy(belay, ANSWERED), { trigger: ONCE, effects: 1 });
    await assertEnd(await backUp(belay, ANSWERED), { trigger: ONCE, effects: 1 });
  });

  test('a deployment POST is not ambiguous if its worker stalls for a moment while the service takes its time', async () => {
    const { operation } = await stoppedForAMoment();
    await assertEnd(operation, { trigger: ONCE, effects: 1 });
  });

  for (const [index, kind, report, effects] of [
    [0, 'deployment', FOUND, 1],
    [1, 'backup', RESENT, 2],
  ] as const) {
    test(`a ${kind} POST is ambiguous, with ${effects} at the service, if its worker stalls after sending it`, async () => {
      const operations = await stoppedAfterSending();
      await assertEnd(operations[index], { trigger: report, effects });
    });
  }

  test('the age of a POST is that by the clock of Temporal, until Temporal no longer waits', async () => {
    const { client } = await around.startTestTemporal();
    const { operation, queue } = await watchedOnly();
    const activity = await takePost(queue);
    const [first, second] = [await awaitedForMs(client, activity), await awaitedForMs(client, activity)];
    const { lastHeartbeatTime } = (await pending(operation))!;
    assert.ok(first !== null && second !== null && 0 <= first && first <= second, `${first} ms, then ${second} ms`);
    assert.equal(second, tsToMs(lastHeartbeatTime) - activity.scheduledMs);
    await timedOut(operation);
    assert.equal(await awaitedForMs(client, activity), null);
    await another(queue);
    await assertEnd(operation, { trigger: RESENT, effects: 1, sent: 1 });
  });

  test('a deployment POST is sent again instead of late if no worker is available in time', async () => {
    const { operation, queue } = await watchedOnly();
    await eventually('the timeout of the POST', async () => {
      const { events, isOfPost } = await postEvents(operation.lockId);
      // A read of a busy machine may time out as well.
      return events.some(({ activityTaskTimedOutEventAttributes: it }) => isOfPost(it));
    });
    await another(queue);
    await assertEnd(operation, { trigger: ONCE, effects: 1 });
  });
});

test('the token is in no history, log, file or error of these tests', async () => {
  assertNowhere(TOKEN, await around.whatIsLeft(), 'polling');
});
