/** Exports spans by OTLP over HTTP. The exporter reads its own variables: endpoint, headers, timeout, compression. */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { TIMING } from '../contract/timing.ts';
import { VERSION } from '../process/version.ts';
import { type TracingOptions, spanIdOf, traceIdOf, type SpanFacts, type Tracing } from './tracing.ts';

const KINDS = { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

export function createTracing({ program, warn }: TracingOptions): Tracing {
  const random = new RandomIdGenerator();
  let ids: { trace: string; span: string | null } = { trace: '', span: null };
  const named = resourceFromAttributes({ 'service.name': program, 'service.version': VERSION });
  const fromVariables = detectResources({ detectors: [envDetector] });
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(named).merge(fromVariables),
    idGenerator: {
      generateTraceId: () => ids.trace,
      generateSpanId: () => ids.span ?? random.generateSpanId(),
    },
    spanProcessors: [new BatchSpanProcessor(reported(new OTLPTraceExporter(), warn))],
  });
  const tracer = provider.getTracer('belay', VERSION);
  const pending = new Set<Promise<void>>();

  function write({ name, kind, trace: run, within, of, startMs, endMs, attributes, failed }: SpanFacts): void {
    const traceId = traceIdOf(run);
    ids = { trace: traceId, span: of === undefined ? null : spanIdOf(of) };
    const parent = within === undefined ? null : { traceId, spanId: spanIdOf(within), traceFlags: TraceFlags.SAMPLED };
    const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
    const span = tracer.startSpan(name, { kind: KINDS[kind], startTime: startMs, attributes }, context);
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(Math.max(startMs, endMs));
  }

  return {
    add(span) {
      const written = Promise.resolve(span)
        .then(write)
        .catch(() => undefined);
      pending.add(written);
      void written.then(() => pending.delete(written));
    },
    async close() {
      const flushed = Promise.all(pending).then(() => provider.shutdown());
      const late = new Promise<void>((resolve) => void setTimeout(resolve, TIMING.tracing.flushMs).unref());
      await Promise.race([flushed.catch(() => undefined), late]);
    },
  };
}

/** A failed export concerns no run. It is reported once, and again after an export that worked. */
function reported(exporter: SpanExporter, warn: (message: string) => void): SpanExporter {
  let failing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const reason = result.error?.message ?? 'unknown error';
        if (result.error !== undefined && !failing) warn(`traces cannot be exported: ${reason}`);
        failing = result.error !== undefined;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
