/** Who is told what happens, and how patiently: retries and time-outs as the Standard Webhooks text has them. */
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Each after the attempt before; the first attempt is made at once. */
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
  secret: z.string().refine(isSecret, 'whsec_ and base64 it must be'),
  /** Between an attempt and the next; default: five seconds to a day, over three days. */
  retryDelaysMs: z.array(z.number().int().min(0)).optional(),
  /** Of an attempt; default 15,000. */
  timeoutMs: z.number().int().min(1).optional(),
});

export type Subscription = z.infer<typeof subscriptionSchema>;

export interface Endpoint {
  url: string;
  webhook: Webhook;
  retryDelaysMs: readonly number[];
  timeoutMs: number;
  /** It answered 410: nothing is sent to it any more. */
  gone: boolean;
}

/** @throws where the secret is none */
export const endpointOf = (subscription: Subscription): Endpoint => ({
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
