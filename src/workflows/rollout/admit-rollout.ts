/** Checks a rollout before it starts a server. Each server's run does the remaining checks. */
import type { Conclusion } from '../common/conclusion.ts';
import { targetsOf } from '../../contract/target.ts';
import { planRun } from '../../request/run-plan.ts';
import { setAttributes } from '../common/search-attributes.ts';
import type { RolloutState } from './rollout-state.ts';
import { askWorker, refusalOfWorker, restoredSince, tooLate } from '../common/check-worker.ts';

/** @returns null if the rollout may start */
export async function admitRollout(rollout: RolloutState): Promise<Conclusion | null> {
  const { input, result } = rollout;
  const begunMs = Date.now();
  const targets = input.waves.flatMap((wave) => wave.targets.flatMap(targetsOf));
  const needs = { ...input, targets };
  const facts = await askWorker(needs);
  result.service = facts.service;
  rollout.epoch = facts.epoch;
  rollout.notify = facts.notify ?? null;
  rollout.searchAttributes = facts.searchAttributes;
  setAttributes(facts.searchAttributes, { servers: result.targets.map(({ serverId }) => serverId) });
  return restoredSince(input, facts) ?? tooLate(begunMs, planRun({}).startWithinMs) ?? refusalOfWorker(needs, facts);
}
