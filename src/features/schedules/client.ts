/** Manages the schedules of belay.yaml at Temporal: plans, applies, lists, pauses and triggers them. */
import { ScheduleNotFoundError } from '@temporalio/client';
import pMap from 'p-map';
import { SCHEDULE_PREFIX } from '../../contract/ids.ts';
import type { ScheduledInput, ScheduleDefinition } from './shapes.ts';
import { type ServedService, isServed } from '../../contract/service-identity.ts';
import { requireSameEncryption, pollerIdentities } from '../../client/workers.ts';
import { findService } from '../../client/find-service.ts';
import { BelayError } from '../../contract/errors.ts';
import { type Session, IN_PARALLEL } from '../../client/session.ts';
import { TIMING } from '../../contract/timing.ts';
import {
  type ScheduleState,
  firingOf,
  listSchedules,
  describeSchedule,
  scheduleError,
  definitionOf,
  optionsOf,
  fixedFields,
  unlessGone,
  summaries,
} from './client-state.ts';
import { definedFields, isRecord } from '../../contract/plain-object.ts';

export type PausedBefore = Pick<ScheduleState, 'paused' | 'note'>;

/** Every method throws a BelayError if it fails. */
export interface Schedules {
  /** Lists the changes to make. @param prune fleets whose undefined schedules are to be deleted */
  plan(definitions: ScheduleDefinition[], prune: string[]): Promise<ScheduleChange[]>;
  apply(changes: ScheduleChange[]): Promise<void>;
  list(): Promise<ScheduleState[]>;
  /** Returns whether it was paused before, and why. The new reason replaces the one before. */
  pause(scheduleId: string, reason: string): Promise<PausedBefore>;
  /** Returns whether it was paused before, and why. */
  resume(scheduleId: string, reason: string): Promise<PausedBefore>;
  /**
   * Fires the schedule now, even if it is paused. If the last run is still in progress, `overlap` decides what happens.
   */
  trigger(scheduleId: string): Promise<void>;
  delete(scheduleId: string): Promise<void>;
}

export function createSchedules(session: Session): Schedules {
  const { schedule } = session.client;
  const ask = <T>(what: string, act: () => Promise<T>) =>
    session.client.withDeadline(Date.now() + TIMING.client.scheduleMs, act).catch((error: unknown) => {
      throw scheduleError(what, error);
    });
  const handle = (scheduleId: string) => {
    if (scheduleId.startsWith(SCHEDULE_PREFIX)) return schedule.getHandle(scheduleId);
    throw new BelayError('NotFound', `${scheduleId} is not a schedule of Belay; \`belay schedule list\` shows them`);
  };
  const setPaused = (to: 'pause' | 'unpause', id: string, given: string): Promise<PausedBefore> =>
    ask(`${to === 'pause' ? 'pause' : 'resume'} ${id}`, async () => {
      const found = handle(id);
      const reason = requireReason(given);
      const { paused, note } = (await describeSchedule(found)).state;
      await found[to](reason);
      return { paused, note: note || null };
    });
  return {
    plan: (definitions, prune) => ask('read the schedules', () => plan(session, definitions, prune)),
    apply: (changes) =>
      ask('apply the schedules', async () => {
        for (const [index, change] of changes.entries()) {
          await applyChange(session, change).catch((error: unknown) => {
            throw applyError(change, changes.slice(0, index), error);
          });
        }
      }),
    list: () => ask('list schedules', () => listSchedules(session)),
    pause: (id, reason) => setPaused('pause', id, reason),
    resume: (id, reason) => setPaused('unpause', id, reason),
    async trigger(id) {
      await ask(`trigger ${id}`, async () => {
        const { policies, info, raw } = await describeSchedule(handle(id));
        const running = info.runningActions.at(-1);
        const isRunning = running !== undefined;
        const inTheWay = isRunning ? await runningText(session, running.workflow) : '';
        if (policies.overlap === 'SKIP' && isRunning) {
          throw new BelayError(
            'Busy',
            `${id} was not triggered: ${inTheWay}, and overlap is skip: trigger it again once that has ended`,
          );
        }
        // At most one firing waits.
        if (policies.overlap === 'BUFFER_ONE' && isRunning && Number(raw.info?.bufferSize ?? 0) > 0) {
          throw new BelayError('Busy', `${id} was not triggered: ${inTheWay}, and another is already waiting`);
        }
        // Without the policy, Temporal would start the firing in parallel with one in progress.
        await handle(id).trigger(policies.overlap);
      });
    },
    delete: (id) => ask(`delete ${id}`, async () => void (await handle(id).delete())),
  };
}

/** @throws BelayError `Usage` if a schedule of the same name is for another service */
async function plan(session: Session, definitions: ScheduleDefinition[], prune: string[]): Promise<ScheduleChange[]> {
  const workers = pollerIdentities(await session.workers());
  requireSameEncryption(session, workers);
  // Null if the service is unknown.
  const served = await findService(session, workers);
  const wanted = await pMap(definitions, (it) => changeTo(session, withService(it, served), served), IN_PARALLEL);
  const defined = new Set(definitions.map(({ scheduleId }) => scheduleId));
  const others = (await summaries(session)).map((it) => it.scheduleId).filter((scheduleId) => !defined.has(scheduleId));
  const unwanted = await pMap(others, (it) => changeToOther(session, it, prune, served), IN_PARALLEL);
  return [...wanted, ...unwanted.filter((change) => change !== null)];
}

/** Each schedule carries the service, so that a worker for another service cannot take what it starts. */
function withService(definition: ScheduleDefinition, served: ServedService | null): ScheduleDefinition {
  if (served === null) return definition;
  const { input } = definition;
  const started = { service: served.service, ...definedFields(input.start.input) };
  return { ...definition, input: { ...input, start: { ...input.start, input: started } as ScheduledInput['start'] } };
}

/** `backup:12:k is still in progress`. Its run may not have started yet. */
async function runningText(session: Session, firing: Parameters<typeof firingOf>[2]): Promise<string> {
  const { workflowId } = await firingOf(session, '', firing);
  return `its last run${workflowId === null ? '' : `, ${workflowId},`} is still in progress`;
}

function requireReason(reason: string): string {
  if (reason.trim() !== '') return reason;
  throw new BelayError('Usage', 'the reason is empty: give one');
}

/* Plans the changes that bring Temporal's schedules to what belay.yaml defines. */

export interface ScheduleChange {
  scheduleId: string;
  /** `unmanaged`: the schedule exists, but belay.yaml does not define it. */
  action: 'create' | 'update' | 'delete' | 'none' | 'unmanaged';
  /** One line for each difference. */
  differences: string[];
  /** Null for `delete` and `unmanaged`. */
  definition: ScheduleDefinition | null;
}

/** Another belay.yaml may have a fleet of this name at another service. @returns null if someone has deleted it */
async function changeToOther(
  { client }: Session,
  scheduleId: string,
  prune: string[],
  served: ServedService | null,
): Promise<ScheduleChange | null> {
  const unmanaged: ScheduleChange = { scheduleId, action: 'unmanaged', differences: [], definition: null };
  if (!prune.includes(scheduleId.split(':')[1] ?? '')) return unmanaged;
  const described = await describeSchedule(client.schedule.getHandle(scheduleId)).catch(unlessGone);
  if (described === null) return null;
  return isOfOtherService(definitionOf(described).input, served) ? unmanaged : { ...unmanaged, action: 'delete' };
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
    const existing = definitionOf(await describeSchedule(client.schedule.getHandle(scheduleId)));
    if (isOfOtherService(existing.input, served)) {
      const remedy = 'give this fleet another name, or each service a namespace of its own';
      const service = existing.input?.start.input.service;
      throw new BelayError('Usage', `the schedule ${scheduleId} is there for ${service}: ${remedy}`);
    }
    const different = differences(existing, { ...definition, ...fixedFields(definition, taskQueue) });
    return { scheduleId, action: different.length === 0 ? 'none' : 'update', differences: different, definition };
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    return { scheduleId, action: 'create', differences: [], definition };
  }
}

async function applyChange(
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

/** Names the schedule that failed and those applied before it. Applying again does the rest. */
function applyError({ scheduleId }: ScheduleChange, before: ScheduleChange[], error: unknown): BelayError {
  const { type, message } = scheduleError(`apply ${scheduleId}`, error);
  const applied = before
    .filter(({ action }) => action !== 'none' && action !== 'unmanaged')
    .map((change) => change.scheduleId);
  const done = applied.length === 0 ? 'nothing was applied' : `already applied: ${applied.join(', ')}`;
  // Temporal's server has its own time zones, and no error code for a zone that it lacks.
  const isZone = message.includes('unknown time zone');
  return new BelayError(isZone ? 'Usage' : type, `${message}${isZone ? ': use another name for it' : ''}; ${done}`);
}

const MAX_LENGTH = 60;

/** `catchUpMs: 3600000 → 60000`. */
export function differences(before: unknown, after: unknown, path = ''): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (isRecord(before) && isRecord(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => differences(before[key], after[key], path === '' ? key : `${path}.${key}`));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((one: unknown, index) => differences(one, after[index], `${path}.${index}`));
  }
  return [`${path}: ${shown(before)} → ${shown(after)}`];
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  const text = JSON.stringify(value);
  if (text.length <= MAX_LENGTH) return text;
  return Array.isArray(value) ? `${value.length} entries` : `${text.slice(0, MAX_LENGTH - 1)}…`;
}
