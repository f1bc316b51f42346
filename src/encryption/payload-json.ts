/** Payloads as the Temporal UI and CLI send them: JSON, with bytes in base64. */
import type { Payload } from '@temporalio/common';
import { z } from 'zod';

const bytes = z.base64().transform((text) => Buffer.from(text, 'base64'));

/** The body of a request. Fields that Belay does not know are dropped. */
export const payloadsSchema = z.object({
  payloads: z.array(
    z.object({
      metadata: z.record(z.string(), bytes).default({}),
      data: bytes.default(() => Buffer.alloc(0)),
    }),
  ),
});

export function toJson(payloads: readonly Payload[]) {
  return { payloads: payloads.map(payloadJson) };
}

function payloadJson({ metadata, data }: Payload) {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)] as const);
  return { metadata: Object.fromEntries(entries), data: base64(data ?? new Uint8Array()) };
}

const base64 = (value: Uint8Array): string => Buffer.from(value).toString('base64');
