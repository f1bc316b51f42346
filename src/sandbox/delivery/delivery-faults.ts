/** What can go wrong between the sandbox and an endpoint: with which delivery, and how. */
import { z } from 'zod';
import { turnFields } from '../hosting/fault-queue.ts';

const sendingSchema = z.discriminatedUnion('kind', [
  /** So many more of it under the same id, each with retries of its own; all at once by default. */
  z.strictObject({
    kind: z.literal('repeat'),
    copies: z.number().int().min(1),
    intervalMs: z.number().int().min(0).optional(),
  }),
  /** Sent late, and overtaken by others. */
  z.strictObject({ kind: z.literal('delay'), delayMs: z.number().int().min(0) }),
  /** Never sent. */
  z.strictObject({ kind: z.literal('drop') }),
  /** Sent when the endpoint has answered the first attempt of the delivery after it. */
  z.strictObject({ kind: z.literal('hold') }),
  /** Signed with another secret, at every attempt. */
  z.strictObject({ kind: z.literal('forge') }),
  /** Rightly signed an hour ago, at every attempt. */
  z.strictObject({ kind: z.literal('stale') }),
]);

/** Of an event that goes to two endpoints each delivery counts. */
export const deliveryFaultSchema = z.strictObject({
  /** Of the event; default: any. */
  type: z.string().optional(),
  ...turnFields,
  sending: sendingSchema,
});

export type DeliveryFault = z.infer<typeof deliveryFaultSchema>;
export type DeliveryFaultKind = DeliveryFault['sending']['kind'];
