/** Delivers events to all subscribers, applies the queued faults, and records every attempt. */
import { randomUUID } from 'node:crypto';
import { attempt, type Attempt, type Message } from './attempt.ts';
import type { DeliveryFault } from './delivery-faults.ts';
import type { SandboxEvent } from './event-bodies.ts';
import type { Lifetime } from './lifetime.ts';
import { endpointOf, type Endpoint, type Subscription } from './subscriptions.ts';
import { createFaultQueue, type FaultQueue } from './fault-queue.ts';

/** One event on its way to one endpoint. */
export interface Delivery extends Message {
  type: string;
  at: string;
  /** Only the host, because the path may be a secret. */
  to: string;
  attempts: Attempt[];
}

export interface Deliveries {
  readonly list: readonly Delivery[];
  readonly faults: FaultQueue<DeliveryFault>;
  /** Subscribing a URL again replaces its settings, also after it answered 410. */
  subscribe(subscription: Subscription): void;
  send(event: SandboxEvent): void;
}

export function createDeliveries(lifetime: Lifetime): Deliveries {
  const list: Delivery[] = [];
  const faults = createFaultQueue<DeliveryFault>();
  const endpoints = new Map<string, Endpoint>();
  const deferred = new Map<Endpoint, Delivery[]>();

  /** @returns the least pause before the next attempt; null if there is nothing left to do */
  async function tryOnce(endpoint: Endpoint, delivery: Delivery): Promise<number | null> {
    if (endpoint.gone) return null;
    const { retryAfterMs, ...made } = await attempt(endpoint, delivery, lifetime);
    delivery.attempts.push(made);
    if (made.answered === 410) endpoint.gone = true;
    return made.wrong === null ? null : retryAfterMs;
  }

  async function deliver(endpoint: Endpoint, delivery: Delivery, dueMs: number, behind: Delivery[]): Promise<void> {
    await lifetime.until(dueMs);
    let pauseMs = await tryOnce(endpoint, delivery);
    for (const next of behind) void deliver(endpoint, next, 0, []);
    for (const delayMs of endpoint.retryDelaysMs) {
      if (pauseMs === null) return;
      await lifetime.until(Date.now() + Math.max(delayMs, pauseMs));
      pauseMs = await tryOnce(endpoint, delivery);
    }
  }

  function begin(endpoint: Endpoint, delivery: Delivery, sending: DeliveryFault['sending'] | undefined): void {
    if (sending?.kind === 'drop') return;
    const behind = deferred.get(endpoint) ?? [];
    if (sending?.kind === 'defer') return void deferred.set(endpoint, [...behind, delivery]);
    deferred.delete(endpoint);
    const dueMs = Date.now() + (sending?.kind === 'delay' ? sending.delayMs : 0);
    void deliver(endpoint, delivery, dueMs, behind);
    if (sending?.kind !== 'repeat') return;
    for (let copy = 1; copy <= sending.copies; copy += 1) {
      void deliver(endpoint, delivery, dueMs + copy * (sending.intervalMs ?? 0), []);
    }
  }

  return {
    list,
    faults,
    subscribe(subscription) {
      const endpoint = endpointOf(subscription);
      endpoints.set(endpoint.url, Object.assign(endpoints.get(endpoint.url) ?? endpoint, endpoint));
    },
    send(event) {
      const { type } = event;
      const id = `msg_${randomUUID()}`;
      for (const endpoint of endpoints.values()) {
        if (endpoint.gone) continue;
        const sending = faults.next((fault) => (fault.type ?? type) === type)?.sending;
        const to = new URL(endpoint.url).host;
        const at = new Date().toISOString();
        const delivery: Delivery = { id, type, at, to, fault: sending?.kind ?? null, attempts: [], body: event };
        list.push(delivery);
        begin(endpoint, delivery, sending);
      }
    },
  };
}
