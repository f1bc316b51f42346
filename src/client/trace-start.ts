import type { Attributes, Tracing } from '../tracing/tracing.ts';

interface Started {
  startMs: number;
  workflowId: string;
  runId: string;
  /** Whether a span stands for the workflow. */
  hasSpan?: boolean;
  attributes?: Attributes;
}

/** Adds the span of a start to the trace of what was started. */
export function traceStart(
  { tracing }: { tracing: Tracing | null },
  type: string,
  { startMs, workflowId, runId, hasSpan = false, attributes = {} }: Started,
): void {
  tracing?.add({
    name: `start ${type}`,
    kind: 'client',
    trace: runId,
    ...(hasSpan ? { within: runId } : {}),
    startMs,
    endMs: Date.now(),
    attributes: { workflowId, runId, ...attributes },
    failed: false,
  });
}
