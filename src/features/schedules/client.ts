/** Manages the schedules of belay.yaml at Temporal: plans, applies, lists, pauses and triggers them. */
import { SCHEDULE_PREFIX } from '../../contract/ids.ts';
import type { ScheduledInput, ScheduleDefinition } from './shapes.ts';
import type { ServedService } from '../../contract/service-identity.ts';
import { agreeOnEncryption } from '../../client/agree-on-encryption.ts';
import { findService } from '../../client/find-service.ts';
import { identitiesOf } from '../../client/workers.ts';
import { BelayError } from '../../contract/errors.ts';
import type { Session } from '../../client/session.ts';
import { TIMING } from '../../contract/timing.ts';
import { type ScheduleChange, planChanges, applyChange, applyError } from './plan-changes.ts';
import { type ScheduleState, listSchedules } from './client-state.ts';
import { describeSchedule } from './describe-schedule.ts';
import { scheduleError } from './schedule-errors.ts';

/** @throws BelayError, from every call */
export interface Schedules {
  /** Lists the changes to make. @param prune fleets whose undefined schedules are to be deleted */
  plan(definitions: ScheduleDefinition[], prune: string[]): Promise<ScheduleChange[]>;
  apply(changes: ScheduleChange[]): Promise<void>;
  list(): Promise<ScheduleState[]>;
  pause(scheduleId: string, reason: string): Promise<void>;
  resume(scheduleId: string, reason: string): Promise<void>;
  /** Fires now, even if paused. If the last run is still in progress, `overlap` decides what happens. */
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
    pause: (id, reason) => ask(`pause ${id}`, async () => handle(id).pause(requireReason(reason))),
    resume: (id, reason) => ask(`resume ${id}`, async () => handle(id).unpause(requireReason(reason))),
    async trigger(id) {
      await ask(`trigger ${id}`, async () => {
        const { policies, info, raw } = await describeSchedule(handle(id));
        const isRunning = info.runningActions.length > 0;
        if (policies.overlap === 'SKIP' && isRunning) {
          throw new BelayError(
            'Busy',
            `${id} was not triggered: its last run is still in progress, and overlap is skip`,
          );
        }
        // At most one firing waits.
        if (policies.overlap === 'BUFFER_ONE' && isRunning && Number(raw.info?.bufferSize ?? 0) > 0) {
          throw new BelayError(
            'Busy',
            `${id} was not triggered: its last run is still in progress, and another is already waiting`,
          );
        }
        // Without the policy, Temporal would start it in parallel with one in progress.
        await handle(id).trigger(policies.overlap);
      });
    },
    delete: (id) => ask(`delete ${id}`, async () => void (await handle(id).delete())),
  };
}

/** Each schedule carries the service, so that a worker for another one cannot take up what it starts. */
async function plan(session: Session, definitions: ScheduleDefinition[], prune: string[]): Promise<ScheduleChange[]> {
  const workers = identitiesOf(await session.workers());
  agreeOnEncryption(session, workers);
  const served = await findService(session, workers);
  return planChanges(session, { definitions: definitions.map((it) => withService(it, served)), prune, served });
}

function withService(definition: ScheduleDefinition, served: ServedService | null): ScheduleDefinition {
  if (served === null) return definition;
  const { input } = definition;
  const start = { ...input.start, input: { service: served.service, ...input.start.input } } as ScheduledInput['start'];
  return { ...definition, input: { ...input, start } };
}

function requireReason(reason: string): string {
  if (reason.trim() !== '') return reason;
  throw new BelayError('Usage', 'the reason is empty: give one');
}
