/** Faults between the sandbox and an endpoint: which delivery fails, and how. */
import { z } from 'zod';
import { turnFields } from './faults.ts';

const sendingSchema = z.discriminatedUnion('kind', [
  /** Sends this many copies with the same id, each with its own retries; by default all at once. */
  z.strictObject({
    kind: z.literal('repeat'),
    copies: z.number().int().min(1),
    intervalMs: z.number().int().min(0).optional(),
  }),
  /** Sent late, so that later deliveries overtake it. */
  z.strictObject({ kind: z.literal('delay'), delayMs: z.number().int().min(0) }),
  z.strictObject({ kind: z.literal('drop') }),
  /** Sent after the endpoint has answered the first attempt of the next delivery. */
  z.strictObject({ kind: z.literal('defer') }),
  /** Every attempt is signed with another secret. */
  z.strictObject({ kind: z.literal('forge') }),
  /** Every attempt has a valid signature that is an hour old. */
  z.strictObject({ kind: z.literal('stale') }),
]);

/** An event sent to two endpoints counts as two deliveries. */
export const deliveryFaultSchema = z.strictObject({
  /** Type of the event. Default: any. */
  type: z.string().optional(),
  ...turnFields,
  sending: sendingSchema,
});

export type DeliveryFault = z.infer<typeof deliveryFaultSchema>;
export type DeliveryFaultKind = DeliveryFault['sending']['kind'];
