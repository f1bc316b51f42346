/** A schedule, and what it starts. Stored in Temporal's schedules and in histories: add, never rename or remove. */
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

/** Input of the workflow that a schedule starts. It starts the slot's run or rollout once, and ends with its outcome. */
export interface ScheduledInput {
  fleet: string;
  schedule: string;
  /** As written in belay.yaml. */
  when: string;
  timeZone: string;
  slot: Slot;
  /** If no worker picks it up within this time, it starts nothing. */
  catchUpMs: number;
  /** Whether Temporal pauses the schedule once what it started fails. */
  pauseOnFailure?: boolean;
  start: { type: RunType; input: RunInput } | { type: typeof ROLLOUT_TYPE; input: Omit<RolloutInput, 'key'> };
}

/**
 * What starts at most once: `day`, the one time of a local day; `time`, one of its several times; `instant`, every firing.
 * `times` are those of a day, such as `02:30`. A firing at any other time was triggered by hand.
 */
export interface Slot {
  granularity: 'day' | 'time' | 'instant';
  times: string[];
}

export interface ScheduledResult {
  /** Id of the run or rollout. */
  workflowId: string;
  /** Whether an earlier firing of the same slot had already started it. */
  alreadyStarted: boolean;
  outcome: Outcome | null;
  /** What froze it, if that is why nothing was started. */
  frozen?: string;
  /** Whether a newer run took its place before it began. */
  superseded?: true;
}

/**
 * Whether what a schedule started ended in a way that fails, and so may pause it. A freeze is planned, and a newer run
 * deploys what the one that it replaced was to deploy.
 */
export const failsSchedule = (error: { type: string } | null): boolean =>
  error !== null && error.type !== 'Frozen' && error.type !== 'Superseded';

/** Times of a schedule. Those with a year replace times that the clock skips in that year. */
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
