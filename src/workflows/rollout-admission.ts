/** What is checked before a rollout begins with a server; the rest each server's run checks. */
import type { End } from './end.ts';
import { DEFAULTS } from '../input.ts';
import { askWorker, refusalOfFacts, tooLate } from './admission.ts';
import { setAttributes } from './attributes.ts';
import type { Rollout } from './open-rollout.ts';

/** Null for one that may begin. */
export async function admitRollout(rollout: Rollout): Promise<End | null> {
  const { input, result } = rollout;
  const begunMs = Date.now();
  const facts = await askWorker(input);
  result.service = facts.service;
  rollout.notify = facts.notify ?? null;
  rollout.searchAttributes = facts.searchAttributes;
  setAttributes(facts.searchAttributes, { servers: result.targets.map(({ serverId }) => serverId) });
  return tooLate(begunMs, DEFAULTS.startWithinMs) ?? refusalOfFacts(input, facts);
}
