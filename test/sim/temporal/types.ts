/** The parts of the model of Temporal. */
import type { Payload } from '@temporalio/common';
import type { Completion } from '../core/cached-execution.ts';
import type { Attributes, Execution, HistoryEvent, Incoming, Memo, Outcome, UpdateRequest } from '../core/events.ts';
import type { ActivityTask, ServerActivities } from './activities.ts';

export interface Run extends Execution {
  type: string;
  firstRunId: string;
  startedMs: number;
  taskTimeoutMs: number;
  memo: Memo;
  parent: (Execution & { initiatedId: number; seq: number }) | null;
  history: HistoryEvent[];
  /** Events that wait for the end of the task in progress. */
  buffered: Incoming[];
  task: Task | null;
  timers: Map<number, () => void>;
  /** The worker whose cache should have it. */
  stickyTo: string | null;
  closedMs: number | null;
  outcome: Outcome | 'terminated' | null;
  signals: number;
  /** Of its activities. */
  heartbeats: number;
  /** Those that have not ended. */
  updates: Update[];
}

export interface Update extends UpdateRequest {
  isAccepted: boolean;
  /** Null until it has ended, `absent` if the run closed before. One that was rejected has failed. */
  outcome: Outcome | 'absent' | null;
}

interface Task {
  scheduledId: number;
  startedId: number | null;
  /** Whether it brings updates and nothing else, as far as is known when it is scheduled. */
  isForUpdates: boolean;
  stopTimer: () => void;
}

export const isOperation = ({ type }: Pick<Run, 'type'>): boolean => type === 'backupServer' || type === 'deploySite';

/** A workflow task for a worker. */
export interface WorkflowTask {
  run: Run;
  startedId: number;
  history: readonly HistoryEvent[];
  /** That are new with it. */
  updates: readonly UpdateRequest[];
}

/** Gives work to workers. */
export interface Matching {
  /** @param worker the only one that may take it, or null for any */
  offerWorkflow(run: Run, worker: string | null): void;
  /** @param by the worker that scheduled it, if it is to go there first; else null */
  offerActivity(task: ActivityTask, by: string | null): void;
  /** Starts the child, unless a test holds it back. */
  beforeChild(run: Run, child: { workflowId: string }, start: () => void): void;
}

/**
 * `refused`: the worker throws the execution out of its cache. `dropped`: the task brought only updates that were
 * rejected, and it never was.
 */
export type TaskEnd = 'accepted' | 'refused' | 'dropped';

export interface StartRequest {
  workflowId: string;
  type: string;
  input: Payload[];
  memo: Memo;
  attributes?: Attributes;
  taskTimeoutMs: number;
}

export interface Server {
  /** While it is down, nothing reaches it and no timer fires. */
  isUp: boolean;
  readonly runs: readonly Run[];
  readonly activities: ServerActivities;
  nowMs(): number;
  /** The latest run of this id. */
  find(workflowId: string): Run | undefined;
  /** A run with this id must not be in progress. */
  start(request: StartRequest): Run;
  /** @returns null if a run with this id exists */
  startOnce(request: StartRequest): Run | null;
  requestCancel(run: Run): void;
  terminate(run: Run): void;
  /** @returns whether there is such a run */
  signal(
    target: { workflowId: string; runId?: string },
    signal: string,
    input: Payload[],
  ): 'delivered' | 'absent' | 'limit';
  /** Called for each signal that reaches a run. */
  onSignal: (run: Run, signal: string) => void;
  /** @returns the update, whose outcome follows */
  update(run: Run, name: string, input: Payload[]): Update;
  /** A worker takes a task. @returns null if the task is gone or another worker's */
  startTask(run: Run, worker: string): WorkflowTask | null;
  completeTask(task: WorkflowTask, worker: string, completion: Completion): TaskEnd;
  /** Adds an event, after the task in progress if there is one, and schedules a task for it. */
  add(run: Run, event: Incoming): void;
}
