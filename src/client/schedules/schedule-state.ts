/** The state of the schedules at Temporal, and of the runs they started last. */
import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import pMap from 'p-map';
import { SCHEDULE_PREFIX } from '../../contract/ids/workflow-ids.ts';
import type { Outcome } from '../../contract/names.ts';
import type { ScheduledResult } from '../../contract/schedule.ts';
import { describeSchedule } from './describe-schedule.ts';
import { definitionOf } from './schedule-codec.ts';
import { IN_PARALLEL, type Session } from '../connection/session.ts';
import { unlessGone } from './schedule-errors.ts';

const LAST_SHOWN = 3;

export interface ScheduleState {
  scheduleId: string;
  /** As written in belay.yaml. */
  when: string | null;
  timeZone: string;
  paused: boolean;
  /** The reason of the last pause or resume. */
  note: string | null;
  /** ISO times of the next firings. */
  next: string[];
  /** Newest first. */
  last: Firing[];
  /** Firings that were skipped because the last run was still in progress. */
  skipped: number;
  /** Firings that were missed for longer than the catch-up window. */
  missed: number;
}

export interface Firing {
  firedAt: string;
  /** Of the run or rollout; null while it is not known. */
  workflowId: string | null;
  /** Null until the run or rollout ends, and again once Temporal has deleted it. */
  outcome: Outcome | null;
  /** Whether Temporal has deleted it, some time after it closed. */
  forgotten: boolean;
  /** Whether the run or rollout of its slot had been started before. */
  already: boolean;
  /** What froze it, if that is why nothing was started. */
  frozen: string | null;
}

export async function scheduleIds({ client }: Session): Promise<string[]> {
  const ids: string[] = [];
  for await (const { scheduleId } of client.schedule.list()) {
    if (scheduleId.startsWith(SCHEDULE_PREFIX)) ids.push(scheduleId);
  }
  return ids.sort();
}

export async function listSchedules(session: Session): Promise<ScheduleState[]> {
  const states = await pMap(
    await scheduleIds(session),
    (id) => stateOfSchedule(session, id).catch(unlessGone),
    IN_PARALLEL,
  );
  return states.filter((state) => state !== null);
}

async function stateOfSchedule(session: Session, scheduleId: string): Promise<ScheduleState> {
  const described = await describeSchedule(session.client.schedule.getHandle(scheduleId));
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
  const unknown: Firing = { firedAt, workflowId: null, outcome: null, forgotten: false, already: false, frozen: null };
  try {
    const { status, raw } = await handle.describe();
    if (status.name === 'RUNNING') return { ...unknown, workflowId: raw.pendingChildren?.[0]?.workflowId ?? null };
    return { ...unknown, ...firedResult((await handle.result()) as ScheduledResult) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { ...unknown, forgotten: true };
    if (!(error instanceof WorkflowFailedError)) throw error;
    const details = error.cause instanceof ApplicationFailure ? error.cause.details?.[0] : undefined;
    return { ...unknown, outcome: 'unknown', ...firedResult(details ?? {}) };
  }
}

function firedResult(stored: Partial<ScheduledResult>): Partial<Firing> {
  const { alreadyStarted = false, ...result } = stored;
  return { ...result, already: alreadyStarted };
}
