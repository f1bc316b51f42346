/** Verifies that the sender of a delivery has the source's secret, in constant time. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { TIMING } from '../contract/timing.ts';
import type { SourceConfig } from '../features/events/config.ts';

/** Why verification failed. It is counted, but never sent to the sender. */
export type VerificationFailure = 'no_signature' | 'bad_signature' | 'bad_time';

export type Headers = Record<string, string | string[] | undefined>;

/** @param secrets all valid secrets: two or more during a rotation */
export type Verifier = (secrets: readonly string[], headers: Headers, body: Buffer) => VerificationFailure | null;

/** Standard Webhooks 1.0.0: https://www.standardwebhooks.com */
export const verifyStandard: Verifier = (secrets, headers, body) => {
  const [id, time, signatures] = STANDARD_HEADERS.map((name) => headerOf(headers, name));
  if (id == null || time == null || signatures == null) return 'no_signature';
  const seconds = /^\d{1,12}$/.test(time) ? Number(time) : NaN;
  if (!(Math.abs(Date.now() / 1_000 - seconds) <= TIMING.webhooks.signatureAgeMs / 1_000)) return 'bad_time';
  const sent = signatures
    .split(' ')
    .flatMap((signature) => (signature.startsWith('v1,') ? [signature.slice('v1,'.length)] : []))
    .filter((text) => FORM.base64.test(text))
    .map((text) => Buffer.from(text, 'base64'));
  const isSigned = secrets.some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    // Use the bytes as sent, because decoding would replace those that are no UTF-8.
    const expected = createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest();
    return sent.some((it) => it.length === expected.length && timingSafeEqual(it, expected));
  });
  return isSigned ? null : 'bad_signature';
};

const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

export type HmacOptions = Pick<Extract<SourceConfig, { verify: 'hmac-sha256' }>, 'header' | 'prefix' | 'encoding'>;

const FORM = { hex: /^[\da-f]{64}$/i, base64: /^[\w+/-]{43}=?$/ };

/** Verifies an HMAC-SHA256 of the body in a header. It covers no time, so anyone who saw a delivery can replay it. */
export function verifyHmac({ header, prefix = '', encoding = 'hex' }: HmacOptions): Verifier {
  return (secrets, headers, body) => {
    const given = headerOf(headers, header);
    if (given === null) return 'no_signature';
    if (!given.startsWith(prefix)) return 'bad_signature';
    const text = given.slice(prefix.length);
    // Node decodes only up to the first invalid character, without an error.
    if (!FORM[encoding].test(text)) return 'bad_signature';
    const sent = Buffer.from(text, encoding);
    const matches = secrets.map((secret) => {
      const expected = createHmac('sha256', secret).update(body).digest();
      return sent.length === expected.length && timingSafeEqual(sent, expected);
    });
    return matches.includes(true) ? null : 'bad_signature';
  };
}

/** Returns the trimmed value of a header that occurs once. */
export function headerOf(headers: Headers, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
