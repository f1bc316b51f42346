import type { Run, StartRequest } from './types.ts';

/** @param number of the execution, from which its run id is made: a waiter whose run id is not a UUID is dropped */
export function newRun(number: number, request: StartRequest, parent: Run['parent'], startedMs: number): Run {
  const { workflowId, type, taskTimeoutMs, memo } = request;
  const runId = `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`;
  return {
    ...{ workflowId, runId, type, firstRunId: runId, startedMs, taskTimeoutMs, memo, parent },
    ...{ history: [], buffered: [], task: null, timers: new Map(), stickyTo: null, closedMs: null, outcome: null },
    ...{ signals: 0, heartbeats: 0, updates: [] },
  };
}
