/** Measures the gates of one wave side by side. */
import { condition, workflowInfo } from '@temporalio/workflow';
import type { GatePlan, GateSubject, Measurement } from './shapes.ts';
import { isPending } from '../../contract/tally.ts';
import type { Decision } from '../rollouts/shapes.ts';
import { isApp } from '../../contract/target.ts';
import {
  hasRoomToMeasure,
  NO_MEASUREMENT,
  noteMeasurement,
  verdictOf,
  type GateState,
  type GateVerdict,
} from './rules.ts';
import { measureGate } from '../../workflows/activity-proxies.ts';
import { serversOf } from './gating.ts';
import type { RolloutState } from '../rollouts/state.ts';

export interface MeasuredGate {
  plan: GatePlan;
  state: GateState;
  /** Null as long as it is not decided. */
  verdict: GateVerdict | null;
  /** How a person let it off, whatever its verdict; else null. */
  letOff: Decision | null;
  nextMs: number;
}

export const newGate = (plan: GatePlan): MeasuredGate => ({
  plan,
  state: NO_MEASUREMENT,
  verdict: null,
  letOff: null,
  nextMs: Date.now() + plan.initialDelayMs,
});

interface Until {
  wave: string;
  isOver: () => boolean;
  onChange: () => void;
  /** How often from now on; null for the gate's own interval. */
  everyMs: ((plan: GatePlan) => number) | null;
}

/** Measures it until it is decided otherwise than before. */
export async function measureUntilDecided(rollout: RolloutState, gate: MeasuredGate, until: Until): Promise<void> {
  const { wave, isOver, onChange, everyMs } = until;
  const { plan, verdict: before } = gate;
  const intervalMs = everyMs?.(plan) ?? plan.intervalMs;
  if (everyMs !== null) gate.nextMs = Date.now() + intervalMs;
  onChange();
  while (gate.verdict === before) {
    const waitMs = gate.nextMs - Date.now();
    if (waitMs > 0) await condition(isOver, waitMs);
    if (isOver()) return;
    if (!hasRoomToMeasure(workflowInfo(), rollout.result.targets.filter(isPending).length)) {
      gate.state = noteMeasurement(gate.state, NO_ROOM);
      gate.verdict = 'inconclusive';
      return onChange();
    }
    const beganMs = Date.now();
    const measured = await measureOnce(rollout, plan, wave);
    if (isOver()) return;
    gate.state = noteMeasurement(gate.state, measured);
    gate.verdict = verdictOf(gate.state, plan);
    gate.nextMs = beganMs + intervalMs;
    onChange();
  }
}

const NO_ROOM: Measurement = {
  state: 'none',
  value: null,
  text: 'it is measured no more: the history of the rollout is long, and a retry measures it again',
};

const NO_WORKER: Measurement = { state: 'error', value: null, text: 'no worker measured it' };

function measureOnce(rollout: RolloutState, gate: GatePlan, wave: string): Promise<Measurement> {
  const service = rollout.result.service ?? '';
  const input = { service, gate, about: subjectOf(rollout, gate, wave) };
  const summary = `Measure ${gate.name} after wave ${wave}`;
  return measureGate.executeWithOptions({ summary }, [input]).catch(() => NO_WORKER);
}

/** Lists are passed on only if a query has their word: a wave may have a thousand servers. */
function subjectOf(rollout: RolloutState, { words }: GatePlan, wave: string): GateSubject {
  const targets = serversOf(rollout.result, wave).filter(({ startedAt }) => startedAt !== null);
  const sites = targets.flatMap((it) => it.deployments.map(({ target }) => target)).filter((it) => !isApp(it));
  const sinceMs =
    rollout.gating.firstPosts.get(wave) ?? Math.min(...targets.map(({ startedAt }) => Date.parse(startedAt ?? '')));
  return {
    wave,
    serverIds: words.includes('servers') ? targets.map(({ serverId }) => serverId) : [],
    siteIds: words.includes('sites') || words.includes('hosts') ? sites.map(({ id }) => id) : [],
    seconds: Math.round((Date.now() - sinceMs) / 1000),
  };
}
