/** Whether a delivery comes from who holds the source's secret. Every comparison takes the same time. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

/** Why it was not believed: counted, and never told to the sender. */
export type Doubt = 'no_signature' | 'bad_signature' | 'bad_time';

export type Headers = Record<string, string | string[] | undefined>;

/** Throws where a secret cannot be one. @param secrets all that are valid now: more than one while one is replaced */
export type Verifier = (secrets: readonly string[], headers: Headers, body: Buffer) => Doubt | null;

/** Standard Webhooks 1.0.0: https://www.standardwebhooks.com */
export const verifyStandard: Verifier = (secrets, headers, body) => {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
  const given = Object.fromEntries(names.map((name) => [name, headerOf(headers, name) ?? '']));
  if (names.some((name) => given[name] === '')) return 'no_signature';
  const doubts = secrets.map((secret): Doubt | null => {
    const webhook = new Webhook(secret);
    try {
      webhook.verify(body, given, { jsonParse: false });
      return null;
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      // The library's words for a time that is none are the second ones.
      return /timestamp|signature headers/i.test(error.message) ? 'bad_time' : 'bad_signature';
    }
  });
  return doubts.includes(null) ? null : (doubts[0] ?? 'bad_signature');
};

export interface HmacOptions {
  header: string;
  prefix?: string | undefined;
  encoding?: 'hex' | 'base64' | undefined;
}

const FORM = { hex: /^[\da-f]{64}$/i, base64: /^[\w+/-]{43}=?$/ };

/** The HMAC-SHA256 of the body in a header. It covers no time, so a delivery can be repeated by who saw it. */
export function verifyHmac({ header, prefix = '', encoding = 'hex' }: HmacOptions): Verifier {
  return (secrets, headers, body) => {
    const given = headerOf(headers, header);
    if (given === null) return 'no_signature';
    if (!given.startsWith(prefix)) return 'bad_signature';
    const text = given.slice(prefix.length);
    // Node stops at the first sign that doesn't belong there, and takes what comes before.
    if (!FORM[encoding].test(text)) return 'bad_signature';
    const said = Buffer.from(text, encoding);
    const matches = secrets.map((secret) => {
      const expected = createHmac('sha256', secret).update(body).digest();
      return said.length === expected.length && timingSafeEqual(said, expected);
    });
    return matches.includes(true) ? null : 'bad_signature';
  };
}

/** A header that was given once. */
export function headerOf(headers: Headers, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
