import { exportsTraces } from '../config/environment/traces.ts';
import type { Tracing } from './tracing.ts';

export interface TracingOptions {
  /** The service name of its spans, unless `OTEL_SERVICE_NAME` is set. */
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
