/** Schedules in Temporal: brought to what belay.yaml says, looked at, paused, triggered. */
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Outcome } from '../../contract/run.ts';
import type { ScheduledResult } from '../../contract/rollout.ts';
import { SCHEDULE_PREFIX } from '../../contract/ids/workflow-ids.ts';
import { given } from '../../contract/plain-object.ts';
import type { ScheduleDefinition } from '../../config/plan/plan-schedules.ts';
import { differences } from './differences.ts';
import { someAtOnce } from '../connection/at-once.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { asBelayError } from '../connection/to-belay-error.ts';
import { definitionOf, optionsOf, surroundingsOf } from './schedule-codec.ts';
import type { Session } from '../session.ts';

const TIMEOUT_MS = 30_000;
const LAST_SHOWN = 3;

export interface ScheduleChange {
  scheduleId: string;
  /** `left`: it is there, and not defined. */
  what: 'create' | 'update' | 'delete' | 'none' | 'left';
  /** In lines for people. */
  differences: string[];
  /** Null where it is deleted or left. */
  definition: ScheduleDefinition | null;
}

export interface ScheduleState {
  scheduleId: string;
  /** As it stands in belay.yaml. */
  when: string | null;
  timeZone: string;
  paused: boolean;
  /** Why it is paused, or was resumed. */
  note: string | null;
  /** ISO times. */
  next: string[];
  /** The newest first. */
  last: Firing[];
  /** Times that were left out because the last run went on. */
  skipped: number;
  /** Times that were missed for longer than is made up for. */
  missed: number;
}

export interface Firing {
  firedAt: string;
  /** Of the run or rollout; null while it isn't known. */
  workflowId: string | null;
  /** Null while it goes on, and where it isn't known any more. */
  outcome: Outcome | null;
  /** Temporal forgets what closed long ago. */
  forgotten: boolean;
  /** Whether its slot had been taken before. */
  already: boolean;
}

/** @throws BelayError, from every call */
export interface Schedules {
  /** What there is to do. @param prune delete those of these fleets that aren't defined */
  plan(definitions: ScheduleDefinition[], prune: string[]): Promise<ScheduleChange[]>;
  apply(changes: ScheduleChange[]): Promise<void>;
  list(): Promise<ScheduleState[]>;
  pause(scheduleId: string, reason: string): Promise<void>;
  resume(scheduleId: string, reason: string): Promise<void>;
  /** Fires now, whether paused or not; what it does while its last run goes on, its overlap says. */
  trigger(scheduleId: string): Promise<void>;
  delete(scheduleId: string): Promise<void>;
}

export function createSchedules(session: Session): Schedules {
  const { schedule } = session.client;
  const ask = <T>(what: string, act: () => Promise<T>) =>
    session.client.withDeadline(Date.now() + TIMEOUT_MS, act).catch((error: unknown) => {
      throw scheduleError(what, error);
    });
  const handle = (scheduleId: string) => {
    if (scheduleId.startsWith(SCHEDULE_PREFIX)) return schedule.getHandle(scheduleId);
    throw new BelayError('NotFound', `${scheduleId} is no schedule of Belay; \`belay schedule list\` shows them`);
  };
  return {
    plan: (definitions, prune) => ask('read the schedules', () => planChanges(session, definitions, prune)),
    apply: (changes) =>
      ask('apply the schedules', async () => {
        for (const [index, change] of changes.entries()) {
          await applyChange(session, change).catch((error: unknown) => {
            throw applyError(change, changes.slice(0, index), error);
          });
        }
      }),
    list: () => ask('list schedules', () => listSchedules(session)),
    pause: (id, reason) => ask(`pause ${id}`, async () => handle(id).pause(said(reason))),
    resume: (id, reason) => ask(`resume ${id}`, async () => handle(id).unpause(said(reason))),
    async trigger(id) {
      await ask(`trigger ${id}`, async () => {
        const { policies, info, raw } = await handle(id).describe();
        const isRunning = info.runningActions.length > 0;
        if (policies.overlap === 'SKIP' && isRunning) {
          throw new BelayError('Busy', `${id} was not triggered: its last run goes on, and overlap is skip`);
        }
        // One waits at most.
        if (policies.overlap === 'BUFFER_ONE' && isRunning && Number(raw.info?.bufferSize ?? 0) > 0) {
          throw new BelayError('Busy', `${id} was not triggered: its last run goes on, and the next one waits already`);
        }
        // Temporal would start it beside one that goes on.
        await handle(id).trigger(policies.overlap);
      });
    },
    delete: (id) => ask(`delete ${id}`, async () => void (await handle(id).delete())),
  };
}

async function planChanges(
  session: Session,
  definitions: ScheduleDefinition[],
  prune: string[],
): Promise<ScheduleChange[]> {
  const wanted = await someAtOnce(definitions, (definition) => changeTo(session, definition));
  const defined = new Set(definitions.map(({ scheduleId }) => scheduleId));
  const others = (await scheduleIds(session)).filter((scheduleId) => !defined.has(scheduleId));
  const unwanted = others.map((scheduleId): ScheduleChange => {
    const what = prune.includes(scheduleId.split(':')[1] ?? '') ? 'delete' : 'left';
    return { scheduleId, what, differences: [], definition: null };
  });
  return [...wanted, ...unwanted];
}

async function changeTo({ client, taskQueue }: Session, definition: ScheduleDefinition): Promise<ScheduleChange> {
  const { scheduleId } = definition;
  try {
    const there = definitionOf(await client.schedule.getHandle(scheduleId).describe());
    const different = differences(there, { ...definition, ...surroundingsOf(definition, taskQueue) });
    return { scheduleId, what: different.length === 0 ? 'none' : 'update', differences: different, definition };
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    return { scheduleId, what: 'create', differences: [], definition };
  }
}

async function applyChange(
  { client, taskQueue }: Session,
  { scheduleId, what, definition }: ScheduleChange,
): Promise<void> {
  const handle = client.schedule.getHandle(scheduleId);
  if (what === 'delete') return void (await handle.delete().catch(unlessGone));
  if (what === 'none' || definition === null) return;
  const options = optionsOf(definition, taskQueue);
  if (what === 'create') await client.schedule.create({ scheduleId, ...options });
  // One that is paused stays so.
  else await handle.update(({ state: { paused, note } }) => ({ ...options, state: { paused, ...given({ note }) } }));
}

/** Which one it was, and what was done by then: applied again, the rest follows. */
function applyError({ scheduleId }: ScheduleChange, before: ScheduleChange[], error: unknown): BelayError {
  const { type, message } = scheduleError(`apply ${scheduleId}`, error);
  const applied = before.filter(({ what }) => what !== 'none' && what !== 'left').map((change) => change.scheduleId);
  const done = applied.length === 0 ? 'nothing was applied' : `applied was ${applied.join(', ')}`;
  // Temporal's server has time zones of its own, and no code for one that it lacks.
  const isZone = message.includes('unknown time zone');
  return new BelayError(isZone ? 'Usage' : type, `${message}${isZone ? ': write another name of it' : ''}; ${done}`);
}

/** The list lags: it may have been deleted since. */
function unlessGone(error: unknown): null {
  if (error instanceof ScheduleNotFoundError) return null;
  throw error;
}

async function scheduleIds({ client }: Session): Promise<string[]> {
  const ids: string[] = [];
  for await (const { scheduleId } of client.schedule.list()) {
    if (scheduleId.startsWith(SCHEDULE_PREFIX)) ids.push(scheduleId);
  }
  return ids.sort();
}

async function listSchedules(session: Session): Promise<ScheduleState[]> {
  const states = await someAtOnce(await scheduleIds(session), (id) => stateOf(session, id).catch(unlessGone));
  return states.filter((state) => state !== null);
}

async function stateOf(session: Session, scheduleId: string): Promise<ScheduleState> {
  const described = await session.client.schedule.getHandle(scheduleId).describe();
  const { input, timeZone } = definitionOf(described);
  const { info, state } = described;
  const recent = info.recentActions.slice(-LAST_SHOWN).reverse();
  return {
    scheduleId,
    when: input?.when ?? null,
    timeZone,
    paused: state.paused,
    note: state.note === '' ? null : (state.note ?? null),
    next: (state.paused ? [] : info.nextActionTimes).slice(0, LAST_SHOWN).map((at) => at.toISOString()),
    last: await Promise.all(
      recent.map(({ takenAt, action }) => firingOf(session, takenAt.toISOString(), action.workflow)),
    ),
    skipped: info.numActionsSkippedOverlap,
    missed: info.numActionsMissedCatchupWindow,
  };
}

async function firingOf(
  { client }: Session,
  firedAt: string,
  { workflowId, firstExecutionRunId }: { workflowId: string; firstExecutionRunId: string },
): Promise<Firing> {
  const handle = client.workflow.getHandle(workflowId, firstExecutionRunId);
  const unknown: Firing = { firedAt, workflowId: null, outcome: null, forgotten: false, already: false };
  try {
    const { status, raw } = await handle.describe();
    if (status.name === 'RUNNING') return { ...unknown, workflowId: raw.pendingChildren?.[0]?.workflowId ?? null };
    return { ...unknown, ...((await handle.result()) as ScheduledResult) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { ...unknown, forgotten: true };
    if (!(error instanceof WorkflowFailedError)) throw error;
    const details = error.cause instanceof ApplicationFailure ? error.cause.details?.[0] : undefined;
    return { ...unknown, outcome: 'unknown', ...((details ?? {}) as Partial<ScheduledResult>) };
  }
}

function said(reason: string): string {
  if (reason.trim() !== '') return reason;
  throw new BelayError('Usage', 'the reason is empty: say why');
}

function scheduleError(what: string, error: unknown): BelayError {
  if (error instanceof ScheduleAlreadyRunning) {
    return new BelayError('Usage', `cannot ${what}: somebody else applies ${error.scheduleId} just now; apply again`);
  }
  if (!(error instanceof ScheduleNotFoundError)) return asBelayError(error, what);
  return new BelayError('NotFound', `cannot ${what}: there is no such schedule; \`belay schedule list\` shows them`);
}
