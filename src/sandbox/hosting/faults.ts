/** What can go wrong between a caller and the service: at which request, how often, and how. */
import { z } from 'zod';
import { createTurns, turnFields } from './fault-queue.ts';

export const ROUTES = ['deploy', 'latest', 'create-backup', 'backup'] as const;
export type Route = (typeof ROUTES)[number];

const answerSchema = z.discriminatedUnion('kind', [
  /** An answer of the service, or of what stands before it. */
  z.strictObject({ kind: z.literal('status'), code: z.number().int().min(200), retryAfter: z.string().optional() }),
  /** Any body: HTML, rubbish, a field too few. */
  z.strictObject({ kind: z.literal('body'), code: z.number().int().min(200), type: z.string(), text: z.string() }),
  z.strictObject({ kind: z.literal('redirect'), location: z.string() }),
  /** The true answer, an id in it as a number. */
  z.strictObject({ kind: z.literal('numeric_id') }),
  /** The true answer; with `delayMs` a slow one. */
  z.strictObject({ kind: z.literal('true') }),
  /** Headers and half of the body. */
  z.strictObject({ kind: z.literal('cut') }),
  z.strictObject({ kind: z.literal('reset') }),
  /** No answer at all. */
  z.strictObject({ kind: z.literal('none') }),
]);

export const faultSchema = z.strictObject({
  /** Default: every route. */
  route: z.enum(ROUTES).optional(),
  /** The site, server or backup in the path; default: any. */
  target: z.string().optional(),
  ...turnFields,
  answer: answerSchema,
  /** Whether a POST has its effect all the same; a true answer always has. */
  effect: z.boolean().optional(),
  /** Before the answer; the effect comes at once. */
  delayMs: z.number().int().min(0).optional(),
});

export type Fault = z.infer<typeof faultSchema>;

export interface Faults {
  add(...faults: Fault[]): void;
  /** What is to go wrong with this request, or null. Of several the oldest counts. */
  next(route: Route, target: string): Fault | null;
}

export function createFaults(): Faults {
  const turns = createTurns<Fault>();
  return {
    add: (...faults) => turns.add(...faults),
    next: (route, target) =>
      turns.next((fault) => (fault.route ?? route) === route && (fault.target ?? target) === target),
  };
}

export const hasEffect = ({ effect, answer }: Fault): boolean =>
  effect === true || answer.kind === 'true' || answer.kind === 'numeric_id';
