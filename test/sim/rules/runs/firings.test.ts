/** How late a firing of a schedule may be. Temporal's own scheduler is not modelled: the tests start what it would start. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultPayloadConverter as payloads, defineSearchAttributeKey } from '@temporalio/common';
import type { ScheduledResult } from '../../../../src/features/schedules/shapes.ts';
import { TIMING } from '../../../../src/contract/timing.ts';
import { fresh } from '../../../support/fresh.ts';
import { definitionsOf, type File } from '../../../support/schedule-files.ts';
import { attributePayloads } from '../../core/sdk.ts';
import { resultOf } from '../../plays/record.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const FIRED_AT = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

type Schedule = Partial<NonNullable<File['schedules']>[string]>;

/** @param lateMs how long after its planned time Temporal starts it. @returns whether it started its run */
async function starts(stack: VirtualStack, schedule: Schedule, lateMs: number): Promise<boolean> {
  const { server, clock } = stack.world;
  const definition = definitionsOf({
    fleets: { shop: { servers: { 12: {} } } },
    schedules: { nightly: { start: { backup: '12' }, cron: '30 2 * * *', ...schedule } },
  })[0]!;
  const firing = server.start({
    ...{ workflowId: fresh('scheduled'), type: 'runScheduled', memo: {} },
    input: [payloads.toPayload(definition.input)],
    attributes: attributePayloads([{ key: FIRED_AT, value: new Date(clock.nowMs - lateMs) }]),
    taskTimeoutMs: TIMING.worker.workflowTaskMs,
  });
  await stack.until('the end of the firing', () => firing.closedMs !== null);
  return resultOf<ScheduledResult>(firing.outcome)?.outcome === 'completed';
}

describe('a firing of a schedule', () => {
  test(
    'starts its run within catchUp of its time, and not later',
    inVirtualTime(async (stack) => {
      assert.deepEqual([await starts(stack, {}, 50 * MINUTE), await starts(stack, {}, 2 * HOUR)], [true, false]);
    }),
  );

  test(
    'that jitter delays by more than catchUp starts its run',
    inVirtualTime(async (stack) => {
      const jitter = { jitter: '3h' };
      const lateness = [2 * HOUR, 3 * HOUR + 50 * MINUTE, 5 * HOUR];
      const started: boolean[] = [];
      for (const lateMs of lateness) started.push(await starts(stack, jitter, lateMs));
      assert.deepEqual(started, [true, true, false]);
    }),
  );

  test(
    'that waited longer than catchUp for the end of the last run starts its run, unless no worker is there',
    inVirtualTime(async (stack) => {
      assert.equal(await starts(stack, { overlap: 'queue' }, 2 * HOUR), true);
      stack.world.restartWorkers(2 * HOUR);
      assert.equal(await starts(stack, { overlap: 'queue' }, 0), false);
    }),
  );
});
