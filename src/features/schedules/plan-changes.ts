/** The changes that bring Temporal's schedules to what belay.yaml defines. */
import { ScheduleNotFoundError } from '@temporalio/client';
import pMap from 'p-map';
import { definedFields } from '../../contract/plain-object.ts';
import { isServed, type ServedService } from '../../contract/service-identity.ts';
import type { ScheduledInput, ScheduleDefinition } from './shapes.ts';
import { differences } from './differences.ts';
import { BelayError } from '../../contract/errors.ts';
import { describeSchedule } from './describe-schedule.ts';
import { definitionOf, optionsOf, fixedFields } from './schedule-codec.ts';
import { IN_PARALLEL, type Session } from '../../client/session.ts';
import { unlessGone, scheduleError } from './schedule-errors.ts';
import { scheduleIds } from './client-state.ts';

export interface ScheduleChange {
  scheduleId: string;
  /** `unmanaged`: the schedule exists, but belay.yaml does not define it. */
  action: 'create' | 'update' | 'delete' | 'none' | 'unmanaged';
  /** One line per difference. */
  differences: string[];
  /** Null for `delete` and `unmanaged`. */
  definition: ScheduleDefinition | null;
}

export interface WantedSchedules {
  definitions: ScheduleDefinition[];
  /** Fleets whose undefined schedules are to be deleted. */
  prune: string[];
  /** Null: unknown. */
  served: ServedService | null;
}

/** @throws BelayError `Usage` if a schedule of the same name is for another service */
export async function planChanges(
  session: Session,
  { definitions, prune, served }: WantedSchedules,
): Promise<ScheduleChange[]> {
  const wanted = await pMap(definitions, (definition) => changeTo(session, definition, served), IN_PARALLEL);
  const defined = new Set(definitions.map(({ scheduleId }) => scheduleId));
  const others = (await scheduleIds(session)).filter((scheduleId) => !defined.has(scheduleId));
  const unwanted = await pMap(
    others,
    async (scheduleId): Promise<ScheduleChange> => {
      const isOfFleet = prune.includes(scheduleId.split(':')[1] ?? '');
      const action = isOfFleet && (await isOurs(session, scheduleId, served)) ? 'delete' : 'unmanaged';
      return { scheduleId, action, differences: [], definition: null };
    },
    IN_PARALLEL,
  );
  return [...wanted, ...unwanted];
}

/** Another file may have a fleet of this name at another service. */
async function isOurs({ client }: Session, scheduleId: string, served: ServedService | null): Promise<boolean> {
  const { input } = definitionOf(await describeSchedule(client.schedule.getHandle(scheduleId)));
  return !isOfOtherService(input, served);
}

function isOfOtherService(input: ScheduledInput | null, served: ServedService | null): boolean {
  const service = input?.start.input.service;
  return service !== undefined && served !== null && !isServed(service, served);
}

async function changeTo(
  { client, taskQueue }: Session,
  definition: ScheduleDefinition,
  served: ServedService | null,
): Promise<ScheduleChange> {
  const { scheduleId } = definition;
  try {
    const there = definitionOf(await describeSchedule(client.schedule.getHandle(scheduleId)));
    if (isOfOtherService(there.input, served)) {
      const remedy = 'give this fleet another name, or each service a namespace of its own';
      const service = there.input?.start.input.service;
      throw new BelayError('Usage', `the schedule ${scheduleId} is there for ${service}: ${remedy}`);
    }
    const different = differences(there, { ...definition, ...fixedFields(definition, taskQueue) });
    return { scheduleId, action: different.length === 0 ? 'none' : 'update', differences: different, definition };
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    return { scheduleId, action: 'create', differences: [], definition };
  }
}

export async function applyChange(
  { client, taskQueue }: Session,
  { scheduleId, action, definition }: ScheduleChange,
): Promise<void> {
  const handle = client.schedule.getHandle(scheduleId);
  if (action === 'delete') return void (await handle.delete().catch(unlessGone));
  if (action === 'none' || definition === null) return;
  const options = optionsOf(definition, taskQueue);
  if (action === 'create') await client.schedule.create({ scheduleId, ...options });
  // A paused schedule stays paused.
  else
    await handle.update(({ state: { paused, note } }) => ({
      ...options,
      state: { paused, ...definedFields({ note }) },
    }));
}

/** Names the failed schedule and those applied before it. Applying again does the rest. */
export function applyError({ scheduleId }: ScheduleChange, before: ScheduleChange[], error: unknown): BelayError {
  const { type, message } = scheduleError(`apply ${scheduleId}`, error);
  const applied = before
    .filter(({ action }) => action !== 'none' && action !== 'unmanaged')
    .map((change) => change.scheduleId);
  const done = applied.length === 0 ? 'nothing was applied' : `already applied: ${applied.join(', ')}`;
  // Temporal's server has its own time zones, and no error code for one that it lacks.
  const isZone = message.includes('unknown time zone');
  return new BelayError(isZone ? 'Usage' : type, `${message}${isZone ? ': use another name for it' : ''}; ${done}`);
}
