import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { awaitedForMs } from '../../../src/client/lookups/runs.ts';
import * as around from '../../support/around-post.ts';
import { eventually } from '../../support/eventually.ts';
import { byTheClockBehind, givenTooLate, stoppedAfterSending, stoppedForAMoment, timedOut } from './shared-workers.ts';

const { another, assertEnd, FOUND, LATE_READS, ONCE, pending, postEvents, RESENT, takePost, watchedOnly } = around;

before(async () => {
  await around.startTestTemporal();
  for (const begin of [stoppedAfterSending, byTheClockBehind]) begin().catch(() => undefined);
});

// Most of them wait, so they run at once.
describe('a worker stalled or absent around a POST', { concurrency: 5 }, () => {
  test('the age of a POST is that by the clock of Temporal, until Temporal no longer waits', async () => {
    const { client } = await around.startTestTemporal();
    const { operation, queue } = await watchedOnly(LATE_READS);
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

  test('a deployment POST is not sent late if its worker, whose clock is an hour behind, stalls before sending it', async () => {
    const { operation } = await givenTooLate();
    await assertEnd(operation, { trigger: RESENT, effects: 1, sent: 1 });
  });

  test('a worker whose clock is an hour behind deploys and backs up as any other, and reports it', async () => {
    const { operations, worker } = await byTheClockBehind();
    // A slow machine measures it less exactly.
    const [, behind] = /clock is (\d+\.\d) s behind/.exec(worker.output.stderr) ?? [];
    assert.ok(Math.abs(Number(behind) - 3_600) < 60, worker.output.stderr);
    for (const operation of operations) await assertEnd(operation, { trigger: ONCE, effects: 1 });
  });

  test('a deployment POST is not ambiguous if its worker stalls for a moment while the service takes its time', async () => {
    await assertEnd(await stoppedForAMoment(), { trigger: ONCE, effects: 1 });
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
});
