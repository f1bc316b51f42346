/**
 * Prometheus metrics of deliveries and of the process. Only configured sources become labels, because clients can make
 * up others.
 */
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { EventInput } from '../features/events/shapes.ts';
import { createCredentialGauges } from '../client/transport/credential-gauges.ts';
import type { Accepted } from './coalesce.ts';

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics(sources: readonly string[]) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name: `belay_webhooks_${name}`, help, labelNames, registers });
  const received = counter('received_total', 'Deliveries received', 'source');
  const verified = counter('verified_total', 'Accepted or repeated deliveries with a verified sender', 'source');
  const rejected = counter('rejected_total', 'Deliveries rejected, by reason', 'source', 'reason');
  const accepted = counter('accepted_total', 'Deliveries accepted by Temporal, by kind', 'source', 'kind');
  const duplicate = counter('duplicate_total', 'Repeated deliveries, accepted before', 'source');
  const coalesced = counter('coalesced_total', 'New deliveries handled as one with another event', 'source');
  const lastMs = new Map<string, number>();
  new Gauge({
    name: 'belay_webhooks_seconds_since_last',
    help: 'Seconds since the last accepted or repeated delivery, or since the start',
    labelNames: ['source'],
    registers,
    collect() {
      for (const [source, ms] of lastMs) this.set({ source }, (Date.now() - ms) / 1000);
    },
  });
  for (const source of sources) {
    lastMs.set(source, Date.now());
    for (const each of [received, verified, duplicate, coalesced]) each.inc({ source }, 0);
  }
  return {
    received: (source: string) => received.inc({ source }),
    /** @param reason such as `bad_signature` or `too_big` */
    rejected: (source: string, reason: string) => rejected.inc({ source, reason }),
    /** Temporal has accepted the delivery, now or before. */
    handled(source: string, { event, isNew, isCoalesced }: Accepted & { event: EventInput }) {
      if (event.verified) verified.inc({ source });
      if (!isNew) duplicate.inc({ source });
      else if (isCoalesced) coalesced.inc({ source });
      else accepted.inc({ source, kind: event.event.kind });
      lastMs.set(source, Date.now());
    },
    credentialsAre: createCredentialGauges(registry),
    /** Returns the text format of Prometheus. */
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
