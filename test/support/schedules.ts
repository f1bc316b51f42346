/** Creates schedules of belay.yaml in a test stack, fires them for past or future nights, and waits for them. */
import {
  ServiceError,
  type ScheduleDescription,
  type ScheduleHandle,
  type ScheduleOverlapPolicy,
} from '@temporalio/client';
import { msToTs, tsToMs } from '@temporalio/common/lib/time.js';
import { Temporal } from 'temporal-polyfill';
import type { ScheduledInput, ScheduledResult } from '../../src/features/schedules/shapes.ts';
import { BelayError, type ScheduleChange, type ScheduleState } from '../../src/starter.ts';
import { eventually } from './eventually.ts';
import { definitionsOf, type File } from './schedule-files.ts';
import { sharedStack } from './shared-stack.ts';
import { fresh, type TestStack } from './world.ts';

type ScheduleInput = NonNullable<File['schedules']>[string];

/** Shared by suites of one process. Nothing takes time at the service. */
export const startStack = () => sharedStack({ backup: { durationMs: 0 }, deployment: { durationMs: 0 } });

export const PACE = { interval: '200ms', tries: 1_000 };

/** A fleet of one server, whose nightly backup is this schedule. */
export function nightly({ client }: TestStack, more: Partial<ScheduleInput> = {}) {
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

/** Applies the file and returns its changes. Schedules of other tests stay. */
export async function apply({ belay }: TestStack, file: File, prune: string[] = []): Promise<ScheduleChange[]> {
  const plan = () => belay.schedules.plan(definitionsOf(file), prune);
  const changes = await eventually('a plan', () => plan().catch(unlessUnreachable));
  await belay.schedules.apply(changes);
  return ours(changes);
}

/** The changes, without the schedules of other tests. */
export const ours = (changes: ScheduleChange[]) => changes.filter(({ action }) => action !== 'unmanaged');

export async function stateOf({ belay }: TestStack, scheduleId: string): Promise<ScheduleState> {
  // Temporal updates its list a moment later, and on a busy machine it may not answer for a schedule.
  return eventually('the schedule', async () =>
    (await belay.schedules.list().catch(unlessUnreachable))?.find(
      (state) => state.scheduleId === scheduleId && state.answered,
    ),
  );
}

/** From the first local midnight to the one after the last date. */
async function rangeOf(handle: ScheduleHandle, first: string, last: string): Promise<{ start: Date; end: Date }> {
  const { timezone = 'UTC' } = (await described(handle)).spec;
  const justBefore = (date: Temporal.PlainDate) => new Date(date.toZonedDateTime(timezone).epochMilliseconds - 1);
  return {
    start: justBefore(Temporal.PlainDate.from(first)),
    end: justBefore(Temporal.PlainDate.from(last).add({ days: 1 })),
  };
}

/** When Temporal fires on these local dates, by its own forecast. */
export async function matchingTimes(
  { client, namespace }: TestStack,
  handle: ScheduleHandle,
  first: string,
  last = first,
): Promise<string[]> {
  const { start, end } = await rangeOf(handle, first, last);
  const { startTime } = await client.workflowService.listScheduleMatchingTimes({
    ...{ namespace, scheduleId: handle.scheduleId },
    ...{ startTime: msToTs(start.getTime()), endTime: msToTs(end.getTime()) },
  });
  return startTime.map((at) => new Date(tsToMs(at)).toISOString());
}

/** A firing that is older than the catch-up window starts nothing, so past nights need an endless one. */
async function reachBack(handle: ScheduleHandle): Promise<void> {
  const update = () =>
    handle.update(({ action, spec, policies, state }) => {
      const input = { ...(action.args?.[0] as ScheduledInput), catchUpMs: Number.MAX_SAFE_INTEGER };
      return { spec, policies, state, action: { ...action, args: [input] } };
    });
  await eventually(`an update of ${handle.scheduleId}`, () => update().then(() => true as const, notInTime));
}

/** Lets Temporal fire for these local dates. @param overlap overrides the policy of the schedule */
export async function fireFor(handle: ScheduleHandle, dates: string[], overlap?: ScheduleOverlapPolicy): Promise<void> {
  await reachBack(handle);
  const ranges = await Promise.all(dates.map((date) => rangeOf(handle, date, date)));
  await handle.backfill(ranges.map((range) => (overlap === undefined ? range : { ...range, overlap })));
}

/** Waits until nothing runs or waits after `count` firings. Returns the last ten results in order. */
export async function settled(
  { client }: TestStack,
  handle: ScheduleHandle,
  count: number,
): Promise<{ id: string; result: ScheduledResult }[]> {
  const { recentActions } = await eventually(`${count} firings of ${handle.scheduleId}`, async () => {
    const { info, raw } = await described(handle);
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

/** What Temporal says about a schedule. */
export const described = (handle: ScheduleHandle): Promise<ScheduleDescription> =>
  eventually(`an answer for ${handle.scheduleId}`, () => handle.describe().catch(notInTime));

/** Resolves when a firing waits for the end of the one before. */
export const buffered = (handle: ScheduleHandle): Promise<true> =>
  eventually(
    `a firing of ${handle.scheduleId} that waits`,
    async () => Number((await described(handle)).raw.info?.bufferSize ?? 0) > 0,
  );

/** As Belay says it. */
function unlessUnreachable(error: unknown): null {
  if (error instanceof BelayError && error.type === 'TemporalUnreachable') return null;
  throw error;
}

/** Temporal asks a workflow of its own, which takes too long on a busy machine. */
export function notInTime(error: unknown): null {
  if (error instanceof ServiceError) return null;
  throw error;
}

export const actionsOf = (changes: { action: string }[]) => changes.map(({ action }) => action);
