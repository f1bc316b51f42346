/** One signed POST to an endpoint, and its result. */
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { DeliveryFaultKind } from './delivery-faults.ts';
import type { SandboxEvent } from './event-bodies.ts';
import type { Lifetime } from './lifetime.ts';
import type { Endpoint } from './subscriptions.ts';

export interface Message {
  /** The event's id: the same in every attempt and at every endpoint. */
  id: string;
  fault: DeliveryFaultKind | null;
  body: SandboxEvent;
}

export interface Attempt {
  at: string;
  /** The HTTP status; null if no response arrived. */
  answered: number | null;
  /** Why it failed; null if it succeeded. */
  wrong: string | null;
}

export interface DeliveryResult extends Attempt {
  /** How long the endpoint asked the sender to wait. */
  retryAfterMs: number;
}

const STALE_MS = 60 * 60 * 1_000;
const RETRY_AFTER_CODES = [429, 502, 503, 504];

export async function attempt(endpoint: Endpoint, message: Message, lifetime: Lifetime): Promise<DeliveryResult> {
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
