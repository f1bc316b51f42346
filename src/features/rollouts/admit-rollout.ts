/** Checks a rollout before it starts a server. Each server's run does the remaining checks. */
import type { WorkerInfo } from '../../contract/activities.ts';
import { factOf } from '../../contract/facts.ts';
import { FREEZES_FACT } from '../freezes/shapes.ts';
import type { RolloutInput } from './shapes.ts';
import type { RunPlan } from '../../contract/run.ts';
import { CHECKS_FACT } from '../site-checks/shapes.ts';
import type { Conclusion } from '../../workflows/conclusion.ts';
import { targetsOf } from '../../contract/target.ts';
import { applyOverride, recordWaiver } from '../freezes/override.ts';
import { setAttributes } from '../../workflows/search-attributes.ts';
import type { RolloutState } from './state.ts';
import { type Needs, refusalOfWorker, refuseMisuse, restoredSince, tooLate } from '../../workflows/check-worker.ts';

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
