/** What became of deliveries, and of the process, for Prometheus. Only names of configured sources are labels, for anybody may send any. */
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { EventKind } from '../contract/event.ts';

export interface Metrics {
  received(source: string): void;
  verified(source: string): void;
  /** A word for why: `bad_signature`, `too_big`. */
  refused(source: string, reason: string): void;
  /** Temporal has it. */
  taken(source: string, kind: EventKind): void;
  repeated(source: string): void;
  /** In Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics(sources: readonly string[]): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name: `belay_webhooks_${name}`, help, labelNames, registers });
  const received = counter('received_total', 'Deliveries that came', 'source');
  const verified = counter('verified_total', 'Deliveries taken, now or before, whose sender proved itself', 'source');
  const refused = counter('refused_total', 'Deliveries refused, by reason', 'source', 'reason');
  const taken = counter('taken_total', 'Deliveries Temporal has taken, by kind', 'source', 'kind');
  const repeated = counter('repeated_total', 'Deliveries that had been taken before', 'source');
  const lastMs = new Map<string, number>();
  new Gauge({
    name: 'belay_webhooks_seconds_since_last',
    help: 'Since the last delivery that was taken or repeated; since the start where there was none',
    labelNames: ['source'],
    registers,
    collect() {
      for (const [source, ms] of lastMs) this.set({ source }, (Date.now() - ms) / 1000);
    },
  });
  for (const source of sources) {
    lastMs.set(source, Date.now());
    for (const each of [received, verified, repeated]) each.inc({ source }, 0);
  }
  return {
    received: (source) => received.inc({ source }),
    verified: (source) => verified.inc({ source }),
    refused: (source, reason) => refused.inc({ source, reason }),
    taken(source, kind) {
      taken.inc({ source, kind });
      lastMs.set(source, Date.now());
    },
    repeated(source) {
      repeated.inc({ source });
      lastMs.set(source, Date.now());
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
