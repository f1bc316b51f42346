/** Checks a rollout before it starts a server. Each server's run does the remaining checks. */
import type { WorkerInfo } from '../../contract/activities.ts';
import type { RunPlan } from '../../contract/run.ts';
import type { Conclusion } from '../common/conclusion.ts';
import { targetsOf } from '../../contract/target.ts';
import { applyOverride, recordWaiver } from '../common/apply-override.ts';
import { setAttributes } from '../common/search-attributes.ts';
import type { RolloutState } from './rollout-state.ts';
import { askOthers, refusalOfWorker, refuseMisuse, restoredSince, tooLate } from '../common/check-worker.ts';

export interface AskedRollout {
  begunMs: number;
  plan: RunPlan;
  /** What the first worker answered. */
  facts: WorkerInfo;
}

/** @returns null if the rollout may start */
export async function admitRollout(
  rollout: RolloutState,
  { begunMs, plan, facts: first }: AskedRollout,
): Promise<Conclusion | null> {
  const { input, result } = rollout;
  const targets = input.waves.flatMap((wave) => wave.targets.flatMap(targetsOf));
  const needs = { ...input, targets };
  const facts = await askOthers(needs, first);
  result.service = facts.service;
  rollout.epoch = facts.epoch;
  rollout.notify = facts.notify ?? null;
  rollout.searchAttributes = facts.searchAttributes;
  recordWaiver(rollout, first.checksLeftOut);
  setAttributes(facts.searchAttributes, { servers: result.targets.map(({ serverId }) => serverId) });
  return (
    restoredSince(input, facts) ??
    tooLate(begunMs, plan.startWithinMs) ??
    refusalOfWorker(needs, facts) ??
    refuseMisuse(first) ??
    applyOverride(rollout, first.override)
  );
}
