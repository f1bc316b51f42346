/** What a receipt says about what held a run or rollout back, and about the answers of people. Pure. */
import type { Approved, Yes } from '../approvals/shapes.ts';
import type { Held } from '../freezes/shapes.ts';
import { planHash } from '../approvals/plan-hash.ts';
import type { Unchained } from './chain.ts';

/** A question with every answer that counted, whatever followed. */
export interface Answered extends Approved {
  /** A verified answer, like each yes. */
  rejection: Yes | null;
}

export const heldEntries = (held: readonly Held[]): Unchained[] =>
  held.map((it) => ({ what: 'held', at: it.from, facts: { ...it } }));

export function answerEntries({ rejection, ...approved }: Answered): Unchained[] {
  const { plan, yeses } = approved;
  const [hash, lastYes] = [planHash(plan), yeses.at(-1)];
  return [
    ...(lastYes === undefined ? [] : [{ what: 'approval' as const, at: lastYes.at, facts: { ...approved, hash } }]),
    ...(rejection === null
      ? []
      : [{ what: 'rejection' as const, at: rejection.at, facts: { plan, hash, ...rejection } }]),
  ];
}
