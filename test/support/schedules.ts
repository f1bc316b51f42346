/** Schedules of belay.yaml in a world: made, fired for nights of the past or future, and waited for. */
import type { ScheduleHandle, ScheduleOverlapPolicy } from '@temporalio/client';
import { msToTs, tsToMs } from '@temporalio/common/lib/time.js';
import { Temporal } from 'temporal-polyfill';
import type { z } from 'zod';
import { configurationSchema } from '../../src/config/file/file-schema.ts';
import type { ScheduledResult } from '../../src/contract/rollout.ts';
import { planSchedules, type ScheduleDefinition } from '../../src/config/plan/plan-schedules.ts';
import type { ScheduleChange, ScheduleState } from '../../src/starter.ts';
import { eventually } from './eventually.ts';
import { fresh, type World } from './world.ts';

export type File = z.input<typeof configurationSchema>;

type ScheduleInput = NonNullable<File['schedules']>[string];

export const PACE = { interval: '200ms', tries: 1_000 };

/** A fleet of one server, whose nightly backup is this schedule. */
export function nightly({ client }: World, more: Partial<ScheduleInput> = {}) {
  const [fleet, serverId] = [fresh('fleet'), fresh('s')];
  const id = `belay:${fleet}:nightly`;
  const file = (other: Partial<ScheduleInput> = {}): File => {
    const usual = { start: { backup: serverId }, cron: '30 2 * * *', timeZone: 'Europe/Berlin', backup: PACE };
    return {
      fleets: { [fleet]: { servers: { [serverId]: {} } } },
      schedules: { nightly: { ...usual, ...more, ...other } },
    };
  };
  return { fleet, serverId, id, file, handle: client.schedule.getHandle(id) };
}

/** @param year the first whose days without some time are known */
export function definitionsOf(file: File, year = 2025): ScheduleDefinition[] {
  return planSchedules(configurationSchema.parse(file), year).map(({ definition }) => definition);
}

/** What was to be done for it; schedules of other tests are left. */
export async function apply({ belay }: World, file: File, prune: string[] = []): Promise<ScheduleChange[]> {
  const changes = await belay.schedules.plan(definitionsOf(file), prune);
  await belay.schedules.apply(changes);
  return ours(changes);
}

/** Without the schedules of other tests. */
export const ours = (changes: ScheduleChange[]) => changes.filter(({ what }) => what !== 'left');

export async function stateOf({ belay }: World, scheduleId: string): Promise<ScheduleState> {
  // Temporal's list follows a moment later.
  return eventually('the schedule', async () =>
    (await belay.schedules.list()).find((state) => state.scheduleId === scheduleId),
  );
}

/** From the first midnight there to the one after the last date. */
async function rangeOf(handle: ScheduleHandle, first: string, last: string): Promise<{ start: Date; end: Date }> {
  const { timezone = 'UTC' } = (await handle.describe()).spec;
  const justBefore = (date: Temporal.PlainDate) => new Date(date.toZonedDateTime(timezone).epochMilliseconds - 1);
  return {
    start: justBefore(Temporal.PlainDate.from(first)),
    end: justBefore(Temporal.PlainDate.from(last).add({ days: 1 })),
  };
}

/** When Temporal fires on these local dates, as it says itself. */
export async function matchingTimes(
  { client }: World,
  handle: ScheduleHandle,
  first: string,
  last = first,
): Promise<string[]> {
  const { start, end } = await rangeOf(handle, first, last);
  const { startTime } = await client.workflowService.listScheduleMatchingTimes({
    ...{ namespace: 'default', scheduleId: handle.scheduleId },
    ...{ startTime: msToTs(start.getTime()), endTime: msToTs(end.getTime()) },
  });
  return startTime.map((at) => new Date(tsToMs(at)).toISOString());
}

/** Temporal itself fires for these local dates. @param overlap without it the schedule's own decides */
export async function fireFor(handle: ScheduleHandle, dates: string[], overlap?: ScheduleOverlapPolicy): Promise<void> {
  const ranges = await Promise.all(dates.map((date) => rangeOf(handle, date, date)));
  await handle.backfill(ranges.map((range) => (overlap === undefined ? range : { ...range, overlap })));
}

/** Resolves when nothing of it goes on or waits, and so much was fired; the results of the last ten, as they came. */
export async function settled(
  { client }: World,
  handle: ScheduleHandle,
  count: number,
): Promise<{ id: string; result: ScheduledResult }[]> {
  const { recentActions } = await eventually(`${count} firings of ${handle.scheduleId}`, async () => {
    const { info, raw } = await handle.describe();
    const isIdle = info.runningActions.length === 0 && Number(raw.info?.bufferSize ?? 0) === 0;
    return isIdle && info.numActionsTaken >= count ? info : null;
  });
  return Promise.all(
    recentActions.map(async ({ action: { workflow } }) => {
      const run = client.workflow.getHandle(workflow.workflowId, workflow.firstExecutionRunId);
      return { id: workflow.workflowId, result: (await run.result()) as ScheduledResult };
    }),
  );
}
