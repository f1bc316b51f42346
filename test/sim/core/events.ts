/** The history of a workflow execution, as the model keeps it. export-history.ts turns it into Temporal's own form. */
import type { Payload } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';

export type Failure = temporal.api.failure.v1.IFailure;
export type Memo = Record<string, Payload>;
/** Search attributes. */
export type Attributes = Record<string, Payload>;

export interface Execution {
  workflowId: string;
  runId: string;
}

/** Of an activity that was scheduled by a command. */
export interface ActivityOptions {
  scheduleToCloseMs: number;
  scheduleToStartMs: number;
  startToCloseMs: number;
  heartbeatMs: number;
  retry: { initialMs: number; coefficient: number; maximumMs: number; attempts: number; nonRetryable: string[] };
  /** Whether it may go to the worker that scheduled it. */
  isEager: boolean;
}

export type Outcome = { result: Payload | null } | { failure: Failure };

/** Asks a workflow to change something. Its code accepts or rejects that. */
export interface UpdateRequest {
  updateId: string;
  name: string;
  input: Payload[];
}

/** What a command asks for. It becomes an event when its task is completed. `seq` is the number the code gave it. */
export type Commanded =
  | { kind: 'timerStarted'; seq: number; ms: number; summary: Payload | null }
  | { kind: 'timerCanceled'; seq: number }
  | {
      kind: 'activityScheduled';
      seq: number;
      type: string;
      input: Payload[];
      /** Null in a history of the real server, which fills in its own defaults. */ options: ActivityOptions | null;
      summary: Payload | null;
    }
  | {
      kind: 'childInitiated';
      seq: number;
      type: string;
      workflowId: string;
      input: Payload[];
      memo: Memo;
      attributes: Attributes;
      taskTimeoutMs: number;
      /** Whether it is refused if an execution with this id has closed, too. */
      isOnceOnly: boolean;
      summary: Payload | null;
    }
  | { kind: 'childCancelRequested'; seq: number; workflowId: string }
  | {
      kind: 'signalInitiated';
      seq: number;
      target: { workflowId: string; runId: string };
      signal: string;
      input: Payload[];
    }
  | { kind: 'attributes'; fields: Attributes }
  | { kind: 'patched'; patchId: string }
  /** The server fills in the request, and the last event before the task that brought it. */
  | { kind: 'updateAccepted'; updateId: string; request: UpdateRequest | null; afterId: number }
  /** The server fills in the event of the acceptance. */
  | { kind: 'updateCompleted'; updateId: string; acceptedId: number; outcome: Outcome }
  | { kind: 'completed'; result: Payload | null }
  | { kind: 'failed'; failure: Failure };

/** What happened outside of the workflow. */
export type Incoming =
  | {
      kind: 'started';
      type: string;
      input: Payload[];
      memo: Memo;
      attributes: Attributes;
      parent: (Execution & { initiatedId: number }) | null;
      taskTimeoutMs: number;
    }
  | { kind: 'timerFired'; seq: number; startedId: number }
  | { kind: 'activityStarted'; seq: number; scheduledId: number; attempt: number }
  | {
      kind: 'activityClosed';
      seq: number;
      type: string;
      scheduledId: number;
      startedId: number;
      outcome: Outcome;
      timedOut: boolean;
    }
  | { kind: 'childStarted'; seq: number; initiatedId: number; child: Execution; type: string }
  | { kind: 'childRefused'; seq: number; initiatedId: number; workflowId: string; type: string }
  | {
      kind: 'childClosed';
      seq: number;
      initiatedId: number;
      startedId: number;
      child: Execution;
      type: string;
      outcome: Outcome | 'terminated';
    }
  | { kind: 'signalSent'; seq: number; initiatedId: number; problem: 'absent' | 'limit' | null }
  | { kind: 'cancelSent'; seq: number; initiatedId: number; workflowId: string; isAbsent: boolean }
  | { kind: 'signaled'; signal: string; input: Payload[] }
  | { kind: 'cancelRequested' }
  | { kind: 'terminated' };

export type TaskEvent =
  | { kind: 'taskScheduled'; stickyTo: string | null }
  | { kind: 'taskStarted'; scheduledId: number }
  | { kind: 'taskCompleted'; scheduledId: number; startedId: number; flags: number[] }
  | { kind: 'taskTimedOut'; scheduledId: number; startedId: number }
  | { kind: 'taskFailed'; scheduledId: number; startedId: number };

export type CommandedEvent = Commanded & { taskId: number };
export type HistoryEvent = { id: number; atMs: number } & (Incoming | CommandedEvent | TaskEvent);

export const isCommanded = (event: HistoryEvent): event is HistoryEvent & CommandedEvent => 'taskId' in event;
export const isOfTask = (event: HistoryEvent): event is HistoryEvent & TaskEvent => event.kind.startsWith('task');
