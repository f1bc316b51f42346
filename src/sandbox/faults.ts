/** Faults between a caller and the service, and between the sandbox and an endpoint: what fails, how often, and how. */
import { z } from 'zod';

/* A queue of faults for later requests or deliveries. The oldest match is used first. */

const turnFields = {
  /** How many matches succeed first. */
  skip: z.number().int().min(0).optional(),
  /** How many matches fail. Default: 1. */
  times: z.number().int().min(1).optional(),
};

interface QueuedFault {
  skip?: number | undefined;
  times?: number | undefined;
}

export interface FaultQueue<T> {
  add(...entries: T[]): void;
  next(matches: (entry: T) => boolean): T | null;
}

export function createFaultQueue<T extends QueuedFault>(): FaultQueue<T> {
  const waiting: { entry: T; skip: number; times: number }[] = [];
  return {
    add: (...entries) =>
      void waiting.push(...entries.map((entry) => ({ entry, skip: entry.skip ?? 0, times: entry.times ?? 1 }))),
    next(matches) {
      for (const queued of waiting) {
        if (!matches(queued.entry)) continue;
        if (queued.skip > 0) {
          queued.skip -= 1;
          continue;
        }
        queued.times -= 1;
        if (queued.times === 0) waiting.splice(waiting.indexOf(queued), 1);
        return queued.entry;
      }
      return null;
    },
  };
}

/* Faults between a caller and the service: which request fails, and how. */

const ROUTES = ['deploy', 'latest', 'create-backup', 'backup', 'page'] as const;
export type Route = (typeof ROUTES)[number];

const answerSchema = z.discriminatedUnion('kind', [
  /** An error of the service or of a proxy in front of it. */
  z.strictObject({ kind: z.literal('status'), code: z.number().int().min(200), retryAfter: z.string().optional() }),
  /** Any body: HTML, garbage, JSON with a field missing. */
  z.strictObject({ kind: z.literal('body'), code: z.number().int().min(200), type: z.string(), text: z.string() }),
  z.strictObject({ kind: z.literal('redirect'), location: z.string() }),
  /** The true answer, with its id as a number. */
  z.strictObject({ kind: z.literal('numeric_id') }),
  /** The true answer; with `delayMs`, a slow one. */
  z.strictObject({ kind: z.literal('true') }),
  /** Headers and part of the body, then the connection closes. */
  z.strictObject({ kind: z.literal('cut') }),
  z.strictObject({ kind: z.literal('reset') }),
  z.strictObject({ kind: z.literal('none') }),
]);

export const faultSchema = z.strictObject({
  /** Default: every route. */
  route: z.enum(ROUTES).optional(),
  /** Id of the site, app, server or backup in the path. Default: any. */
  target: z.string().optional(),
  ...turnFields,
  answer: answerSchema,
  /** Whether a POST still takes effect. With a true answer it always does. */
  effect: z.boolean().optional(),
  /** Delays the answer, but not the effect. */
  delayMs: z.number().int().min(0).optional(),
});

export type Fault = z.infer<typeof faultSchema>;

export const faultOf = (faults: FaultQueue<Fault>, route: Route, target: string): Fault | null =>
  faults.next((fault) => (fault.route ?? route) === route && (fault.target ?? target) === target);

export const hasEffect = ({ effect, answer }: Fault): boolean =>
  effect === true || answer.kind === 'true' || answer.kind === 'numeric_id';

/* Faults between the sandbox and an endpoint: which delivery fails, and how. */

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
