/** The door to Temporal for whoever starts runs and waits for them: the command line, and any program. */
import type { RunInput, RunResult } from '../contract/run.ts';
import type { EventInput } from '../contract/event.ts';
import { getEvent, listEvents, type EventFilter, type TakenEvent } from './events/list-events.ts';
import { listRuns, type RunFilter } from './runs/list-runs.ts';
import { openSession, type ConnectOptions } from './connection/session.ts';
import { createRollouts, type Rollouts } from './rollouts/rollouts.ts';
import { createRun, type Run } from './runs/run-handle.ts';
import { createSchedules, type Schedules } from './schedules/schedules.ts';
import { startRun, type StartOptions } from './runs/start-run.ts';

export type { ConnectOptions };

/** @throws BelayError, from every call */
export interface Belay {
  /** Starts a run, or attaches to the one with the same key. What it does follows from the input. */
  start(input: RunInput, options?: StartOptions): Promise<Run>;
  /** A run that was started before. Nothing is asked until a call on it. */
  get(workflowId: string, runId?: string): Run;
  /** Runs of the past and present, newest first. */
  list(filter?: RunFilter): Promise<RunResult[]>;
  /** Events that came, the newest first. */
  listEvents(filter?: EventFilter): Promise<TakenEvent[]>;
  /** One of them, with its redacted body. */
  getEvent(workflowId: string): Promise<EventInput>;
  readonly rollouts: Rollouts;
  readonly schedules: Schedules;
  close(): Promise<void>;
}

/** @throws BelayError of type `TemporalUnreachable` or `Usage` */
export async function connect(options: ConnectOptions = {}): Promise<Belay> {
  const { session, close } = await openSession(options);
  return {
    start: (input, startOptions = {}) => startRun(session, input, startOptions),
    get: (workflowId, runId) => createRun(session, { workflowId, runId: runId ?? null, attached: true }),
    list: (filter = {}) => listRuns(session, filter),
    listEvents: (filter = {}) => listEvents(session, filter),
    getEvent: (workflowId) => getEvent(session, workflowId),
    rollouts: createRollouts(session),
    schedules: createSchedules(session),
    close,
  };
}
