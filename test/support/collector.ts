/** A collector of traces: takes OTLP over HTTP in JSON, as every OpenTelemetry collector does. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { atEnd } from './at-end.ts';

interface OtlpAttribute {
  key: string;
  value: { stringValue?: string; intValue?: number | string };
}

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: OtlpAttribute[];
  status: { code?: number };
}

export interface CollectedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  tookMs: number;
  attributes: Record<string, string | number>;
  failed: boolean;
}

export interface Collector {
  url: string;
  readonly spans: readonly CollectedSpan[];
  /** All that was sent. */
  text(): string;
  /** From now on, requests get no answer. */
  hang(): void;
  /** How many requests it got. */
  requests(): number;
}

const ERROR = 2;

/** @param port Default: a free one */
export async function startCollector(port = 0): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  let [text, requests, hanging] = ['', 0, false];
  const server = createServer((request, response) => {
    requests += 1;
    if (hanging) return;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks);
      const body = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw).toString();
      text += JSON.stringify(request.headers) + body;
      if (request.url === '/v1/traces') spans.push(...spansIn(body));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => text,
    hang: () => void (hanging = true),
    requests: () => requests,
  };
}

interface Body {
  resourceSpans: { resource: { attributes: OtlpAttribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
}

function spansIn(body: string): CollectedSpan[] {
  const { resourceSpans } = JSON.parse(body) as Body;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ service, ...collected(span) })));
  });
}

const collected = (span: OtlpSpan): Omit<CollectedSpan, 'service'> => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId || null,
  name: span.name,
  tookMs: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
  attributes: valuesOf(span.attributes),
  failed: span.status.code === ERROR,
});

const valuesOf = (attributes: OtlpAttribute[]): Record<string, string | number> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));
