/** Schedules of belay.yaml in a world: made, fired for nights of the past or future, and waited for. */
import assert from 'node:assert/strict';
import type { ScheduleHandle, ScheduleOverlapPolicy } from '@temporalio/client';
import { Temporal } from 'temporal-polyfill';
import type { z } from 'zod';
import { configurationSchema } from '../../src/configuration/schema.ts';
import type { ScheduledResult } from '../../src/fleet-contract.ts';
import { planSchedules, type ScheduleDefinition } from '../../src/schedules/definition.ts';
import { BelayError, type ScheduleChange, type ScheduleState } from '../../src/starter.ts';
import { eventually } from './eventually.ts';
import type { World } from './world.ts';

export type File = z.input<typeof configurationSchema>;

/** @param year the first whose days without some time are known */
export function definitionsOf(file: File, year = 2025): ScheduleDefinition[] {
  return planSchedules(configurationSchema.parse(file), year).map(({ definition }) => definition);
}

/** What was to be done for it. */
export async function apply({ belay }: World, file: File, prune: string[] = []): Promise<ScheduleChange[]> {
  const changes = await belay.schedules.plan(definitionsOf(file), prune);
  await belay.schedules.apply(changes);
  return changes;
}

export async function stateOf({ belay }: World, scheduleId: string): Promise<ScheduleState> {
  // Temporal's list follows a moment later.
  return eventually('the schedule', async () =>
    (await belay.schedules.list()).find((state) => state.scheduleId === scheduleId),
  );
}

/** Temporal itself fires for these local dates. @param overlap without it the schedule's own decides */
export async function fireFor(handle: ScheduleHandle, dates: string[], overlap?: ScheduleOverlapPolicy): Promise<void> {
  const { spec } = await handle.describe();
  const midnight = (date: Temporal.PlainDate) =>
    new Date(date.toZonedDateTime(spec.timezone ?? 'UTC').epochMilliseconds - 1);
  const ranges = dates.map((date) => {
    const day = Temporal.PlainDate.from(date);
    return { start: midnight(day), end: midnight(day.add({ days: 1 })) };
  });
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

export async function errorOf(act: Promise<unknown>): Promise<BelayError> {
  const error = await act.then(
    () => null,
    (it: unknown) => it,
  );
  assert.ok(error instanceof BelayError, String(error));
  return error;
}
