/** The executions in a worker's cache, and the workflow tasks that it does with them. */
import { openCached, type Cached } from '../core/cached-execution.ts';
import { Nondeterminism } from '../core/compare.ts';
import type { ExecutionFacts } from '../core/sdk.ts';
import type { Run, TaskEnd, WorkflowTask } from '../temporal/types.ts';
import { textOf, type Ask, type WorkerParts } from './parts.ts';

export interface Executions {
  workOn(task: WorkflowTask): Promise<void>;
  forgetAll(): void;
}

/**
 * Without a cache, code is loaded again once its history is longer by this factor: short ones for each task. For each task of
 * a long one, a play would cost ten times as much.
 */
const RELOADED_AFTER = 1.1;

export function createExecutions(name: string, parts: WorkerParts, ask: Ask): Executions {
  const { tape, process, server, hazard } = parts;
  const cache = new Map<string, Cached>();
  /** How long its history was when its code was loaded. */
  const loadedAt = new Map<string, number>();
  const turns = new Map<string, Promise<void>>();

  /** One task of an execution at a time. */
  async function workOn(task: WorkflowTask): Promise<void> {
    const { runId } = task.run;
    const before = turns.get(runId);
    const turn = (before ?? Promise.resolve()).then(() => doTask(task));
    turns.set(runId, turn);
    await turn;
    if (turns.get(runId) === turn) turns.delete(runId);
    if (parts.cacheSize > 0) evict();
    else if (!turns.has(runId) && task.history.length > RELOADED_AFTER * loadedAt.get(runId)!) forget(runId);
  }

  async function doTask(task: WorkflowTask): Promise<void> {
    const { run } = task;
    hazard('task taken');
    await process.sleep(1 + tape.choose('task', 10));
    let end: TaskEnd = 'refused';
    try {
      const cached = cache.get(run.runId) ?? (await openCached(parts.sandboxes, factsOf(run)));
      if (!cache.delete(run.runId)) loadedAt.set(run.runId, task.history.length);
      cache.set(run.runId, cached);
      const completion = await cached.runTask(task.history, task.updates);
      hazard('task done');
      end = await ask(() => server.completeTask(task, name, completion));
      if (end === 'dropped') cached.forgetTask();
      hazard('task completed');
    } catch (error) {
      if (process.hasEnded) return;
      const isNondeterminism = error instanceof Nondeterminism;
      parts.onFinding(isNondeterminism ? `nondeterminism: ${error.message}` : `${run.workflowId}: ${textOf(error)}`);
    }
    if (end === 'refused' || run.closedMs !== null) forget(run.runId);
  }

  /** The least recently used first. */
  function evict(): void {
    for (const id of [...cache.keys()]) {
      if (cache.size <= parts.cacheSize) return;
      if (!turns.has(id)) forget(id);
    }
  }

  function forget(runId: string): void {
    const cached = cache.get(runId);
    cache.delete(runId);
    loadedAt.delete(runId);
    void cached?.dispose();
  }

  return {
    workOn,
    forgetAll() {
      for (const id of [...cache.keys()]) forget(id);
    },
  };
}

export function factsOf({
  workflowId,
  runId,
  firstRunId,
  type,
  startedMs,
  taskTimeoutMs,
  parent,
}: Run): ExecutionFacts {
  const from = parent === null ? null : { workflowId: parent.workflowId, runId: parent.runId };
  return { workflowId, runId, firstRunId, type, startedMs, taskTimeoutMs, parent: from };
}
