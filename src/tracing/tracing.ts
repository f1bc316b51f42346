/**
 * Traces show what Belay's programs do for a workflow, as spans of one trace. Ids are derived from the run ids of
 * workflows, so programs share a trace without passing anything on.
 */
import { createHash } from 'node:crypto';
import { exportsTraces } from '../config/environment/environment.ts';

export type SpanAttributes = Record<string, string | number | undefined>;

export interface SpanFacts {
  name: string;
  kind: 'client' | 'internal';
  /** The run id of the workflow that owns the trace. */
  trace: string;
  /** The run id of the workflow whose span contains this one. Absent for the root. */
  within?: string;
  /** The run id of the workflow that this span stands for. Absent for a span of a part of a workflow. */
  of?: string;
  startMs: number;
  endMs: number;
  attributes: SpanAttributes;
  failed: boolean;
}

export interface Tracing {
  /** Returns at once. Spans that cannot be exported are dropped. */
  add(span: SpanFacts | Promise<SpanFacts>): void;
  /** Exports the remaining spans, for a short time at most. */
  close(): Promise<void>;
}

/** A run id is a UUID. A trace id is the same without hyphens. */
export const traceIdOf = (runId: string): string => runId.replaceAll('-', '').toLowerCase();

export const spanIdOf = (runId: string): string => createHash('sha256').update(runId).digest('hex').slice(0, 16);

export interface TracingOptions {
  /** The service name of the spans, unless `OTEL_SERVICE_NAME` is set. */
  program: string;
  /** Reports once that the export fails, and why. */
  warn: (message: string) => void;
}

/** Loads the exporter only if it is configured. @returns null if no traces are exported. @throws ConfigError */
export async function openTracing(options: TracingOptions): Promise<Tracing | null> {
  if (!exportsTraces()) return null;
  const { createTracing } = await import('./create-tracing.ts');
  return createTracing(options);
}
