/** Checks a rollout before it starts a server. Each server's run does the remaining checks. */
import type { WorkerInfo } from '../../contract/activities.ts';
import { factOf } from '../../contract/facts.ts';
import { FREEZES_FACT } from '../../contract/freeze.ts';
import type { RolloutInput } from '../../contract/rollout.ts';
import type { RunPlan } from '../../contract/run.ts';
import { CHECKS_FACT } from '../../contract/site-check.ts';
import type { Conclusion } from '../common/conclusion.ts';
import { targetsOf } from '../../contract/target.ts';
import { applyOverride, recordWaiver } from '../common/apply-override.ts';
import { setAttributes } from '../common/search-attributes.ts';
import type { RolloutState } from './rollout-state.ts';
import { type Needs, refusalOfWorker, refuseMisuse, restoredSince, tooLate } from '../common/check-worker.ts';

export interface AskedRollout {
  begunMs: number;
  plan: RunPlan;
  /** What the worker that suits it answered. */
  facts: WorkerInfo;
}

export const needsOfRollout = (input: RolloutInput): Needs => ({
  ...input,
  targets: input.waves.flatMap((wave) => wave.targets.flatMap(targetsOf)),
});

/** @returns null if the rollout may start */
export function admitRollout(rollout: RolloutState, { begunMs, plan, facts }: AskedRollout): Conclusion | null {
  const { input, result } = rollout;
  result.service = facts.service;
  rollout.epoch = facts.epoch;
  rollout.notify = facts.notify ?? null;
  rollout.searchAttributes = facts.searchAttributes;
  recordWaiver(rollout, factOf(facts, CHECKS_FACT)?.leftOut);
  setAttributes(facts.searchAttributes, { servers: result.targets.map(({ serverId }) => serverId) });
  return (
    restoredSince(input, facts) ??
    tooLate(begunMs, plan.startWithinMs) ??
    refusalOfWorker(needsOfRollout(input), facts) ??
    refuseMisuse(facts) ??
    applyOverride(rollout, factOf(facts, FREEZES_FACT)?.override)
  );
}
