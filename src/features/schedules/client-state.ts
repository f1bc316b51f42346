/** The state of the schedules at Temporal, and of the runs they started last. */
import {
  WorkflowFailedError,
  WorkflowNotFoundError,
  type ScheduleDescription,
  type ScheduleSummary,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import pMap from 'p-map';
import { TIMING } from '../../contract/timing.ts';
import { SCHEDULE_PREFIX } from '../../contract/ids.ts';
import type { Outcome } from '../../contract/names.ts';
import type { ScheduledResult } from './shapes.ts';
import { describeSchedule } from './describe-schedule.ts';
import { definitionOf } from './schedule-codec.ts';
import { IN_PARALLEL, type Session } from '../../client/session.ts';
import { isUnanswered } from '../../client/transport/grpc-errors.ts';
import { unlessGone } from './schedule-errors.ts';

const LAST_SHOWN = 3;

export interface ScheduleState {
  scheduleId: string;
  /**
   * False: Temporal lists the schedule, but does not answer for it. The rest is then from the list, which may lag: `when`
   * is null, and `skipped` and `missed` are 0.
   */
  answered: boolean;
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
  alreadyStarted: boolean;
  /** What froze it, if that is why nothing was started. */
  frozen: string | null;
}

export async function scheduleIds(session: Session): Promise<string[]> {
  return (await summaries(session)).map(({ scheduleId }) => scheduleId);
}

async function summaries({ client }: Session): Promise<ScheduleSummary[]> {
  const ours: ScheduleSummary[] = [];
  for await (const summary of client.schedule.list()) {
    if (summary.scheduleId.startsWith(SCHEDULE_PREFIX)) ours.push(summary);
  }
  return ours.sort((a, b) => (a.scheduleId < b.scheduleId ? -1 : 1));
}

export async function listSchedules(session: Session): Promise<ScheduleState[]> {
  const { scheduleMs, scheduleAnswerMs } = TIMING.client;
  const lastMs = Date.now() + scheduleMs - scheduleAnswerMs;
  const states = await pMap(
    await summaries(session),
    async (summary) => {
      const untilMs = Math.min(Date.now() + scheduleAnswerMs, lastMs);
      const handle = session.client.schedule.getHandle(summary.scheduleId);
      return session.client
        .withDeadline(untilMs, () => describeSchedule(handle))
        .catch(unlessUnanswered)
        .then((described) => stateOfSchedule(session, summary, described))
        .catch(unlessGone);
    },
    IN_PARALLEL,
  );
  return states.filter((state) => state !== null);
}

function unlessUnanswered(error: unknown): null {
  if (isUnanswered(error)) return null;
  throw error;
}

async function stateOfSchedule(
  session: Session,
  summary: ScheduleSummary,
  described: ScheduleDescription | null,
): Promise<ScheduleState> {
  const { info, state, spec } = described ?? summary;
  const recent = info.recentActions.slice(-LAST_SHOWN).reverse();
  return {
    scheduleId: summary.scheduleId,
    answered: described !== null,
    when: described === null ? null : (definitionOf(described).input?.when ?? null),
    timeZone: spec?.timezone || 'UTC',
    paused: state.paused,
    note: state.note === '' ? null : (state.note ?? null),
    next: (state.paused ? [] : info.nextActionTimes).slice(0, LAST_SHOWN).map((at) => at.toISOString()),
    last: await Promise.all(
      recent.map(({ takenAt, action }) => firingOf(session, takenAt.toISOString(), action.workflow)),
    ),
    skipped: described?.info.numActionsSkippedOverlap ?? 0,
    missed: described?.info.numActionsMissedCatchupWindow ?? 0,
  };
}

async function firingOf(
  { client }: Session,
  firedAt: string,
  { workflowId, firstExecutionRunId }: { workflowId: string; firstExecutionRunId: string },
): Promise<Firing> {
  const handle = client.workflow.getHandle(workflowId, firstExecutionRunId);
  const unknown = { firedAt, workflowId: null, outcome: null, forgotten: false, alreadyStarted: false, frozen: null };
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
