/** What is checked before a rollout begins with a server; the rest each server's run checks. */
import type { End } from '../common/conclusion.ts';
import { DEFAULTS } from '../../request/validate-run-input.ts';
import { askWorker, refusalOfFacts, tooLate } from '../run/admit-run.ts';
import { setAttributes } from '../common/search-attributes.ts';
import type { Rollout } from './rollout-state.ts';

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
