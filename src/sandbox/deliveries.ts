/** Delivers events to all subscribers, applies the queued faults, and records every attempt. */
import { randomUUID, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import type { SandboxEvent } from './announce.ts';
import type { Lifetime } from './lifetime.ts';
import { createFaultQueue, type DeliveryFault, type DeliveryFaultKind } from './faults.ts';

export interface Delivery extends Message {
  type: string;
  at: string;
  /** Only the host, because the path may be a secret. */
  to: string;
  attempts: Attempt[];
}

export type SandboxDeliveries = ReturnType<typeof createDeliveries>;

export function createDeliveries(lifetime: Lifetime) {
  const list: Delivery[] = [];
  const faults = createFaultQueue<DeliveryFault>();
  const endpoints = new Map<string, Endpoint>();
  /** What a `defer` fault holds back until the first attempt of the next event, so that it arrives out of order. */
  const deferred = new Map<Endpoint, Delivery[]>();

  /** @returns the shortest pause before the next attempt; null if there is nothing left to do */
  async function tryOnce(endpoint: Endpoint, delivery: Delivery): Promise<number | null> {
    if (endpoint.gone) return null;
    const { retryAfterMs, ...made } = await attempt(endpoint, delivery, lifetime);
    delivery.attempts.push(made);
    if (made.answered === 410) endpoint.gone = true;
    return made.wrong === null ? null : retryAfterMs;
  }

  async function deliver(endpoint: Endpoint, delivery: Delivery, dueMs: number, heldBack: Delivery[]): Promise<void> {
    await lifetime.until(dueMs);
    let pauseMs = await tryOnce(endpoint, delivery);
    for (const next of heldBack) void deliver(endpoint, next, 0, []);
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
    /** Replaces the settings of a URL that is subscribed again, even after it answered 410. */
    subscribe(subscription: Subscription) {
      const endpoint = endpointOf(subscription);
      endpoints.set(endpoint.url, Object.assign(endpoints.get(endpoint.url) ?? endpoint, endpoint));
    },
    send(event: SandboxEvent) {
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

/* Subscribed endpoints, with retries and timeouts as the Standard Webhooks specification recommends. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Pauses between attempts; the first attempt is immediate. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

const TIMEOUT_MS = 15 * SECOND_MS;

export const subscriptionSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  secret: z.string().refine(isSecret, 'must be whsec_ followed by base64'),
  /** Pauses between attempts. The defaults grow from 5 seconds to a day, three days in all. */
  retryDelaysMs: z.array(z.number().int().min(0)).optional(),
  /** Timeout of one attempt. Default: 15,000. */
  timeoutMs: z.number().int().min(1).optional(),
});

export type Subscription = z.infer<typeof subscriptionSchema>;

interface Endpoint {
  url: string;
  webhook: Webhook;
  retryDelaysMs: readonly number[];
  timeoutMs: number;
  /** True after a 410 answer. The endpoint then gets no more deliveries. */
  gone: boolean;
}

/** @throws if the secret is invalid */
const endpointOf = (subscription: Subscription): Endpoint => ({
  url: subscription.url,
  webhook: new Webhook(subscription.secret),
  retryDelaysMs: subscription.retryDelaysMs ?? RETRY_DELAYS_MS,
  timeoutMs: subscription.timeoutMs ?? TIMEOUT_MS,
  gone: false,
});

function isSecret(text: string): boolean {
  try {
    return text.startsWith('whsec_') && new Webhook(text) instanceof Webhook;
  } catch {
    return false;
  }
}

/* One signed POST to an endpoint, and its result. */

interface Message {
  /** The event's id: the same in every attempt and at every endpoint. */
  id: string;
  fault: DeliveryFaultKind | null;
  body: SandboxEvent;
}

interface Attempt {
  at: string;
  /** The HTTP status. Null if no response arrived. */
  answered: number | null;
  /** Why the attempt failed. Null if it succeeded. */
  wrong: string | null;
}

interface DeliveryResult extends Attempt {
  retryAfterMs: number;
}

const STALE_MS = HOUR_MS;
const RETRY_AFTER_CODES = [429, 502, 503, 504];

async function attempt(endpoint: Endpoint, message: Message, lifetime: Lifetime): Promise<DeliveryResult> {
  const at = new Date();
  const body = JSON.stringify(message.body);
  const headers = signedHeaders(endpoint, message, body, at);
  return lifetime.within(endpoint.timeoutMs, async (signal) => {
    try {
      const response = await fetch(endpoint.url, { method: 'POST', headers, body, redirect: 'manual', signal });
      // The body is not needed, and it could be endless.
      response.body?.cancel().catch(() => undefined);
      const wrong = response.ok ? null : `answered ${response.status}`;
      return { at: at.toISOString(), answered: response.status, wrong, retryAfterMs: retryAfterMs(response) };
    } catch (error) {
      return { at: at.toISOString(), answered: null, wrong: describeError(error, signal), retryAfterMs: 0 };
    }
  });
}

function signedHeaders(endpoint: Endpoint, { id, fault }: Message, body: string, at: Date): Record<string, string> {
  const signedAt = new Date(at.getTime() - (fault === 'stale' ? STALE_MS : 0));
  const webhook = fault === 'forge' ? new Webhook(randomBytes(32).toString('base64')) : endpoint.webhook;
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(signedAt.getTime() / 1_000)),
    'webhook-signature': webhook.sign(id, signedAt, body),
    // On a kept-alive connection, an attempt would fail if the endpoint had just closed it.
    connection: 'close',
  };
}

function retryAfterMs({ status, headers }: Response): number {
  const seconds = headers.get('retry-after') ?? '';
  return RETRY_AFTER_CODES.includes(status) && /^\d+$/.test(seconds) ? Number(seconds) * 1_000 : 0;
}

/** Leaves out fetch's message, which may contain the URL. */
function describeError(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return (signal.reason as Error).message;
  const { name, cause } = error as Error & { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : name;
}
