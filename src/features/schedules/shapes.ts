/**
 * A schedule, and what it starts. Temporal's schedules and histories store these shapes: add, never rename or remove.
 */
import type { Outcome, RunType, ROLLOUT_TYPE } from '../../contract/names.ts';
import type { RunInput } from '../../contract/run.ts';
import type { RolloutInput } from '../rollouts/shapes.ts';

/** A time matches if every field lists it. Sunday is 0, January is 1. */
export interface Times {
  minute: number[];
  hour: number[];
  dayOfMonth: number[];
  month: number[];
  dayOfWeek: number[];
}

/**
 * The input of the workflow that a schedule starts. That workflow starts the run or rollout of its slot once, and ends
 * with its outcome.
 */
export interface ScheduledInput {
  fleet: string;
  schedule: string;
  /** The schedule as written in belay.yaml. */
  when: string;
  timeZone: string;
  slot: Slot;
  /** A firing starts nothing if no worker picks it up within this time. */
  catchUpMs: number;
  /** Temporal delays firings by up to this much. Absent: by nothing. */
  jitterMs?: number;
  /** A firing waits for the end of the last run, however long that takes. Absent: it does not wait. */
  queues?: true;
  /** Whether Temporal pauses the schedule when the run or rollout fails. */
  pauseOnFailure?: boolean;
  start: { type: RunType; input: RunInput } | { type: typeof ROLLOUT_TYPE; input: Omit<RolloutInput, 'key'> };
}

/**
 * What starts at most once. `day`: the one time of a local day. `time`: each of several times of a local day.
 * `instant`: every firing. `times` are the times of a day, such as `02:30`. A firing at any other time was triggered by
 * hand.
 */
export interface Slot {
  granularity: 'day' | 'time' | 'instant';
  times: string[];
}

export interface ScheduledResult {
  /** Id of the run or rollout. */
  workflowId: string;
  /** True if an earlier firing of the same slot had already started the run or rollout. */
  alreadyStarted: boolean;
  outcome: Outcome | null;
  /** What froze it, if a freeze is why it was not completed. A part may have been deployed before. */
  frozen?: string;
  /** Present if a newer run replaced the run before it began. */
  superseded?: true;
}

/**
 * Whether an end counts as a failure of the schedule, and so may pause it. Freezes are planned, and a newer run deploys
 * what the replaced run was to deploy.
 */
export const failsSchedule = (error: { type: string } | null): boolean =>
  error !== null && error.type !== 'Frozen' && error.type !== 'Superseded';

/** The times of a schedule. Times with a year replace times that the clock skips in that year. */
export type Calendar = Times & { year: number | null; comment: string };

export interface ScheduleDefinition {
  scheduleId: string;
  input: ScheduledInput;
  calendars: Calendar[];
  timeZone: string;
  jitterMs: number;
  overlap: 'skip' | 'queue';
  catchUpMs: number;
  pauseOnFailure: boolean;
}
