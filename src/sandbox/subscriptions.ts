/** Subscribed endpoints, with retries and timeouts as the Standard Webhooks specification recommends. */
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';

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

export interface Endpoint {
  url: string;
  webhook: Webhook;
  retryDelaysMs: readonly number[];
  timeoutMs: number;
  /** True after a 410 answer. The endpoint then gets no more deliveries. */
  gone: boolean;
}

/** @throws if the secret is invalid */
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
