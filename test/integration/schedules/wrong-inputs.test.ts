import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { ScheduleHandle } from '@temporalio/client';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { definitionsOf } from '../../support/schedule-files.ts';
import * as schedules from '../../support/schedules.ts';
import { apply, described, fireFor, PACE } from '../../support/schedules.ts';
import { addWorker, belayOn, fresh, TASK_QUEUE, type TestStack } from '../../support/world.ts';

let world: TestStack;
before(async () => {
  world = await schedules.startStack();
});

const nightly = () => schedules.nightly(world);

test('a scheduled workflow with malformed input or a late start ends at once and starts nothing', async () => {
  const [{ input }] = definitionsOf(nightly().file()) as [ReturnType<typeof definitionsOf>[number]];
  const wrong = {
    ...{ nothing: undefined, null: null, text: 'backup', empty: {}, noStart: { ...input, start: null } },
    ...{ otherType: { ...input, start: { ...input.start, type: 'backupServer' } }, noSlot: { ...input, slot: null } },
    ...{ noInput: { ...input, start: { type: 'backupOnly' } }, noZone: { ...input, timeZone: 'Mars/Olympus' } },
    ...{ emptyRollout: { ...input, start: { type: 'rollOut', input: {} } }, late: { ...input, catchUpMs: -1 } },
  };
  const types = Object.entries(wrong).map(async ([name, value]) => {
    // Only ends what hangs.
    const options = { taskQueue: TASK_QUEUE, workflowId: fresh('wrong'), workflowExecutionTimeout: '10 min' } as const;
    const started = await world.client.workflow.start('runScheduled', { ...options, args: [value] });
    const { cause } = (await started.result().catch((it: unknown) => it)) as {
      cause?: { type?: string; name: string };
    };
    return [name, cause?.type ?? cause?.name];
  });
  const expected = Object.keys(wrong).map((name) => [name, name === 'late' ? 'NoWorker' : 'Usage']);
  assert.deepEqual(await Promise.all(types), expected);
});

/** The error of the first firing that has ended. */
async function errorOf(handle: ScheduleHandle): Promise<{ type?: string; message: string } | undefined> {
  const { workflow } = await eventually('a firing', async () => {
    const { recentActions, runningActions } = (await described(handle)).info;
    return runningActions.length === 0 ? recentActions[0]?.action : undefined;
  });
  const fired = world.client.workflow.getHandle(workflow.workflowId, workflow.firstExecutionRunId);
  const { cause } = (await fired.result().catch((it: unknown) => it)) as { cause?: { message: string } };
  return cause;
}

test('a firing for a time that is long past starts nothing, although Temporal fires it now', async () => {
  const { file, handle, serverId } = nightly();
  await apply(world, file());
  await handle.backfill([{ start: new Date('2026-01-20T00:00Z'), end: new Date('2026-01-20T12:00Z') }]);
  const error = await errorOf(handle);
  assert.equal(error?.type, 'NoWorker');
  assert.match(error.message, /planned for 2026-01-20T01:30/);
  assert.equal(began(world.sandbox, 'backup', serverId).length, 0);
});

test('a slot from before the epoch starts nothing, and what is fired in it does', async () => {
  const taskQueue = fresh('q');
  const epoch = new Date(Date.now() - 60_000).toISOString();
  await addWorker(world, taskQueue, world.sandbox.url, {}, { epoch });
  const belay = await belayOn(world, taskQueue);
  const { file, handle, serverId } = nightly();
  await apply({ ...world, belay }, file());
  await fireFor(handle, ['2026-01-20']);
  const error = await errorOf(handle);
  assert.equal(error?.type, 'OutcomeUnknown');
  assert.match(error.message, /began at 2026-01-20T01:30.*BELAY_EPOCH is now .*check at the service/);
  assert.equal(began(world.sandbox, 'backup', serverId).length, 0);
  await handle.trigger();
  await eventually('the backup', () => began(world.sandbox, 'backup', serverId).length === 1);
});

test("a schedule's deploysUntil counts from the nominal time of its slot", async () => {
  const [fleet, serverId, siteId] = [fresh('fleet'), fresh('s'), fresh('a')];
  const times = { cron: '30 2 * * *', timeZone: 'Europe/Berlin', deploysUntil: '06:00' };
  await apply(world, {
    fleets: { [fleet]: { servers: { [serverId]: { sites: [siteId] } } } },
    schedules: { nightly: { start: { deploy: siteId }, ...times, deploy: PACE } },
  });
  const handle = world.client.schedule.getHandle(`belay:${fleet}:nightly`);
  await fireFor(handle, ['2026-01-20']);
  const error = await errorOf(handle);
  assert.equal(error?.type, 'TooLate', error?.message);
  assert.equal(began(world.sandbox, 'deployment', siteId).length, 0);
});
