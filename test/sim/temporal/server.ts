/** The model of Temporal: executions with their histories, tasks, timers, activities, children and signals. */
import type { Payload } from '@temporalio/common';
import { createActivities } from './activities.ts';
import { newRun } from './new-run.ts';
import type { Matching, Run, Server, StartRequest, TaskEnd, Update, WorkflowTask } from './types.ts';
import { createUpTimer } from './up-timer.ts';
import { abortUpdates, acceptUpdate, endUpdate, filledIn, newUpdates } from './updates.ts';
import type { Clock } from '../clock.ts';
import { isClosing, type Completion } from '../core/cached-execution.ts';
import type { Commanded, CommandedEvent, Execution, Incoming, Outcome, TaskEvent } from '../core/events.ts';
import type { Tape } from '../tape.ts';

const STICKY_MS = 2_000;
const SIGNAL_LIMIT = 10_000;
/** The SDK's core asks for no more of one task. */
const MAX_EAGER = 3;

export function createServer(clock: Clock, tape: Tape, matching: Matching): Server {
  const runs: Run[] = [];
  const latest = new Map<string, Run>();
  let ids = 0;

  const whenUp = createUpTimer(clock, () => server.isUp);

  const server: Server = {
    isUp: true,
    runs,
    activities: createActivities(clock, {
      add,
      isUp: () => server.isUp,
      offer: (task, by) => matching.offerActivity(task, by),
    }),
    nowMs: () => clock.nowMs,
    find: (workflowId) => latest.get(workflowId),
    start: (request) => start(request, null),
    startOnce: (request) => (latest.has(request.workflowId) ? null : start(request, null)),
    requestCancel: (run) => add(run, { kind: 'cancelRequested' }),
    terminate(run) {
      if (run.closedMs !== null) return;
      dropTask(run);
      append(run, { kind: 'terminated' });
      close(run, 'terminated');
    },
    signal,
    onSignal: () => {},
    update,
    startTask,
    completeTask,
    add,
  };
  return server;

  function append(run: Run, event: Incoming | TaskEvent | CommandedEvent): number {
    const id = run.history.length + 1;
    run.history.push({ ...event, id, atMs: clock.nowMs });
    return id;
  }

  /** Adds what happened, or keeps it until the task in progress has ended. */
  function add(run: Run, event: Incoming): void {
    if (run.closedMs !== null) return;
    if (run.task?.startedId != null) {
      run.buffered.push(event);
      return;
    }
    append(run, event);
    if (event.kind !== 'activityStarted') schedule(run);
  }

  function schedule(run: Run, isForUpdates = false): void {
    if (run.task !== null || run.closedMs !== null) return;
    const stickyTo = run.stickyTo;
    const scheduledId = append(run, { kind: 'taskScheduled', stickyTo });
    const stopTimer = stickyTo === null ? () => {} : whenUp(STICKY_MS, () => unstick(run));
    run.task = { scheduledId, startedId: null, isForUpdates, stopTimer };
    matching.offerWorkflow(run, stickyTo);
  }

  function unstick(run: Run): void {
    if (run.task === null || run.task.startedId !== null) return;
    const { scheduledId } = run.task;
    dropTask(run);
    run.stickyTo = null;
    append(run, { kind: 'taskTimedOut', scheduledId, startedId: 0 });
    schedule(run);
  }

  function dropTask(run: Run): void {
    run.task?.stopTimer();
    run.task = null;
  }

  function startTask(run: Run, worker: string): WorkflowTask | null {
    const { task } = run;
    if (!server.isUp || task === null || task.startedId !== null) return null;
    if (run.stickyTo !== null && run.stickyTo !== worker) return null;
    task.stopTimer();
    task.startedId = append(run, { kind: 'taskStarted', scheduledId: task.scheduledId });
    task.stopTimer = whenUp(run.taskTimeoutMs, () => endTask(run, 'taskTimedOut'));
    return { run, startedId: task.startedId, history: [...run.history], updates: newUpdates(run) };
  }

  /** Ends a task without its commands. It is made again, with what has happened meanwhile. */
  function endTask(run: Run, kind: 'taskTimedOut' | 'taskFailed'): void {
    const { task } = run;
    if (task?.startedId == null) return;
    dropTask(run);
    run.stickyTo = null;
    append(run, { kind, scheduledId: task.scheduledId, startedId: task.startedId });
    flush(run);
    schedule(run);
  }

  function flush(run: Run): void {
    for (const event of run.buffered.splice(0)) add(run, event);
  }

  function completeTask({ run, startedId }: WorkflowTask, worker: string, completion: Completion): TaskEnd {
    const { commands, rejected, flags } = completion;
    const { task } = run;
    if (run.closedMs !== null || task?.startedId !== startedId) return 'refused';
    // Their events would be the last two.
    const isLoneTask = task.isForUpdates && task.scheduledId === startedId - 1 && startedId === run.history.length;
    if (commands.some(isClosing) && run.buffered.some(({ kind }) => kind !== 'activityStarted')) {
      endTask(run, 'taskFailed');
      return 'refused';
    }
    for (const { updateId, failure } of rejected) endUpdate(run, updateId, { failure });
    dropTask(run);
    if (isLoneTask && commands.length === 0) {
      run.history.length -= 2;
      run.stickyTo = worker;
      goOn(run);
      return 'dropped';
    }
    const taskId = append(run, { kind: 'taskCompleted', scheduledId: task.scheduledId, startedId, flags });
    run.stickyTo = worker;
    let eager = 0;
    for (const command of commands) {
      const isEager = command.kind === 'activityScheduled' && command.options?.isEager === true;
      carryOut(run, command, taskId, isEager && (eager += 1) <= MAX_EAGER ? worker : null);
    }
    if (run.closedMs !== null) return 'accepted';
    goOn(run);
    return 'accepted';
  }

  function goOn(run: Run): void {
    flush(run);
    if (newUpdates(run).length > 0) schedule(run, true);
  }

  function update(run: Run, name: string, input: Payload[]): Update {
    const updateId = `u${(ids += 1)}`;
    const it: Update = { updateId, name, input, isAccepted: false, outcome: run.closedMs === null ? null : 'absent' };
    if (it.outcome !== null) return it;
    run.updates.push(it);
    if (run.task === null) schedule(run, true);
    return it;
  }

  function carryOut(run: Run, command: Commanded, taskId: number, eagerFor: string | null): void {
    const target = command.kind === 'childCancelRequested' ? childOf(run, command.seq) : null;
    const filled = target === null ? filledIn(run, command, taskId) : { ...command, workflowId: target.workflowId };
    const id = append(run, { ...filled, taskId });
    switch (command.kind) {
      case 'timerStarted': {
        const { seq, ms } = command;
        const fire = () => {
          run.timers.delete(seq);
          add(run, { kind: 'timerFired', seq, startedId: id });
        };
        run.timers.set(seq, whenUp(ms, fire));
        return;
      }
      case 'timerCanceled':
        run.timers.get(command.seq)?.();
        run.timers.delete(command.seq);
        // It may have fired during the task.
        run.buffered = run.buffered.filter((it) => !(it.kind === 'timerFired' && it.seq === command.seq));
        return;
      case 'activityScheduled':
        server.activities.schedule(run, { ...command, scheduledId: id }, eagerFor);
        return;
      case 'childInitiated':
        soon(() => matching.beforeChild(run, command, () => startChild(run, { ...command, initiatedId: id })));
        return;
      case 'childCancelRequested':
        soon(() => {
          const child = latest.get(target!.workflowId);
          const isAbsent = child === undefined || child.runId !== target!.runId || child.closedMs !== null;
          if (!isAbsent) add(child, { kind: 'cancelRequested' });
          add(run, { kind: 'cancelSent', seq: command.seq, initiatedId: id, workflowId: target!.workflowId, isAbsent });
        });
        return;
      case 'signalInitiated':
        soon(() => {
          const { seq, target: to, signal: name, input } = command;
          // Temporal does not find the sender itself.
          const isSelf = to.workflowId === run.workflowId;
          const sent = isSelf ? 'absent' : signal(to.runId === '' ? { workflowId: to.workflowId } : to, name, input);
          add(run, { kind: 'signalSent', seq, initiatedId: id, problem: sent === 'delivered' ? null : sent });
        });
        return;
      case 'updateAccepted':
        return acceptUpdate(run, command.updateId);
      case 'updateCompleted':
        return endUpdate(run, command.updateId, command.outcome);
      case 'completed':
        return close(run, { result: command.result });
      case 'failed':
        return close(run, { failure: command.failure });
      default:
    }
  }

  function start(request: StartRequest, parent: Run['parent']): Run {
    ids += 1;
    const run = newRun(ids, request, parent, clock.nowMs);
    const { workflowId, type, input, memo, attributes = {}, taskTimeoutMs } = request;
    runs.push(run);
    latest.set(workflowId, run);
    append(run, { kind: 'started', type, input, memo, attributes, parent, taskTimeoutMs });
    schedule(run);
    return run;
  }

  type Initiated = Extract<Commanded, { kind: 'childInitiated' }> & { initiatedId: number };

  function startChild(run: Run, initiated: Initiated): void {
    const { seq, workflowId, type, input, memo, attributes, taskTimeoutMs, initiatedId, isOnceOnly } = initiated;
    // It starts also if its parent has been terminated meanwhile: all children are abandoned.
    const before = latest.get(workflowId);
    if (before !== undefined && (before.closedMs === null || isOnceOnly)) {
      add(run, { kind: 'childRefused', seq, initiatedId, workflowId, type });
      return;
    }
    const { workflowId: parentId, runId } = run;
    const child = start(
      { workflowId, type, input, memo, attributes, taskTimeoutMs },
      { workflowId: parentId, runId, initiatedId, seq },
    );
    add(run, { kind: 'childStarted', seq, initiatedId, child: executionOf(child), type });
  }

  function close(run: Run, outcome: Outcome | 'terminated'): void {
    run.closedMs = clock.nowMs;
    run.outcome = outcome;
    run.buffered = [];
    abortUpdates(run);
    for (const stop of run.timers.values()) stop();
    server.activities.drop(run);
    const { parent } = run;
    if (parent === null) return;
    soon(() => {
      const parentRun = runs.find(({ runId }) => runId === parent.runId);
      if (parentRun === undefined || parentRun.closedMs !== null) return;
      const { seq, initiatedId } = parent;
      const startedId =
        parentRun.history.find((it) => it.kind === 'childStarted' && it.initiatedId === initiatedId)?.id ?? 0;
      add(parentRun, {
        kind: 'childClosed',
        seq,
        initiatedId,
        startedId,
        child: executionOf(run),
        type: run.type,
        outcome,
      });
    });
  }

  function signal({ workflowId, runId }: { workflowId: string; runId?: string }, name: string, input: Payload[]) {
    const run = latest.get(workflowId);
    if (run === undefined || run.closedMs !== null || (runId !== undefined && runId !== run.runId)) return 'absent';
    if ((run.signals += 1) > SIGNAL_LIMIT) return 'limit';
    add(run, { kind: 'signaled', signal: name, input });
    server.onSignal(run, name);
    return 'delivered';
  }

  function childOf(run: Run, seq: number): Execution {
    const started = run.history.find((it) => it.kind === 'childStarted' && it.seq === seq);
    if (started?.kind !== 'childStarted') throw new Error('a child was cancelled before it started: model it first');
    return started.child;
  }

  /** What the server does by itself takes a moment: another task may come first. */
  function soon(act: () => void): void {
    whenUp(1 + tape.choose('transfer', 20), act);
  }
}

const executionOf = ({ workflowId, runId }: Execution): Execution => ({ workflowId, runId });
