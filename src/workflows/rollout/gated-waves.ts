/**
 * What follows a wave: it bakes, and then its gates are measured. A gate that failed stops the rollout, or pauses it for
 * a decision. One without data pauses it too, is measured on, and lets it resume by itself.
 */
import { condition } from '@temporalio/workflow';
import type { WaveGates } from '../../contract/gate.ts';
import type { ErrorType, Outcome } from '../../contract/names.ts';
import { gateProgress, gateReason } from '../../contract/wording/gate-text.ts';
import { slowIntervalMs, worstVerdict } from '../../rules/policy/gate.ts';
import { mayHeal, serversOf } from './gating.ts';
import { recordHeldGates, type GateHolds } from './held-gates.ts';
import { measureUntilDecided, newGate, type MeasuredGate } from './measure-gates.ts';
import type { RolloutState } from './rollout-state.ts';

interface Gated {
  rollout: RolloutState;
  wave: string;
  gates: MeasuredGate[];
  holds: GateHolds;
  isOver: () => boolean;
  /** Call it after each change. */
  show: () => void;
  /** Notifies people of a pause. */
  announcePause: () => void;
}

/** @returns once the rollout may go on, or once it begins nothing more */
export async function passGates(
  rollout: RolloutState,
  due: WaveGates,
  isCancelled: () => boolean,
  announcePause: () => void,
): Promise<void> {
  const { gating, result } = rollout;
  const isOver = () => isCancelled() || result.phase === 'stopping';
  await bake(rollout, due, isOver);
  if (!isOver()) {
    const gates = due.gates.map(newGate);
    const holds = recordHeldGates(result, due.wave, gates);
    const gated: Gated = { rollout, wave: due.wave, gates, holds, isOver, announcePause, show };
    function show(): void {
      const open = gates.filter(({ verdict }) => verdict !== 'passed' && verdict !== 'failed');
      if (gating.waiting === null) return;
      gating.waiting.bakesUntil = null;
      gating.waiting.gates = open.map((it) => gateProgress(it.plan, it.state, new Date(it.nextMs).toISOString()));
      rollout.refresh();
    }
    if (await measureAll(gated)) result.passedWaves.push(due.wave);
    holds.end(result.decisions);
  }
  Object.assign(gating, { waiting: null, pause: null });
  if (result.phase === 'gate') rollout.setPhase('running');
  else rollout.refresh();
}

/** From the end of the last server on, so that a pause meanwhile costs no time. */
async function bake(rollout: RolloutState, { wave, bakeMs }: WaveGates, isOver: () => boolean): Promise<void> {
  const ended = serversOf(rollout.result, wave).flatMap(({ endedAt }) => (endedAt === null ? [] : Date.parse(endedAt)));
  const untilMs = (ended.length === 0 ? Date.now() : Math.max(...ended)) + bakeMs;
  rollout.gating.waiting = {
    kind: 'gate',
    wave,
    bakesUntil: new Date(untilMs).toISOString(),
    gates: [],
    inconclusive: [],
    since: new Date().toISOString(),
  };
  if (rollout.result.phase === 'running') rollout.setPhase('gate');
  else rollout.refresh();
  const leftMs = untilMs - Date.now();
  if (leftMs > 0) await condition(isOver, leftMs);
}

/** @returns whether the rollout may go on */
async function measureAll(gated: Gated): Promise<boolean> {
  const { rollout, gates, wave, isOver, show } = gated;
  const deciding = gates.filter(({ plan }) => !plan.dryRun);
  const hasFailed = () => deciding.some(({ verdict }) => verdict === 'failed');
  const until = { wave, isOver: () => isOver() || hasFailed(), onChange: show, everyMs: null };
  await Promise.all(gates.map((gate) => measureUntilDecided(rollout, gate, until)));
  if (isOver()) return false;
  for (const gate of gates.filter(({ plan }) => plan.dryRun)) noteDryRun(gated, gate);
  const verdict = worstVerdict(deciding.flatMap((it) => it.verdict ?? []));
  if (verdict === 'passed') return true;
  const culprit = deciding.find((it) => it.verdict === verdict)!;
  return verdict === 'failed' ? afterFailure(gated, culprit) : afterDoubt(gated, deciding);
}

function noteDryRun({ rollout, wave }: Gated, { plan, state, verdict }: MeasuredGate): void {
  if (verdict === null) return;
  const would = verdict === 'inconclusive' ? 'would have been' : 'would have';
  rollout.decide('note', authorOf(plan), gateReason({ wave, plan, state }, `${would} ${verdict}`));
}

const authorOf = ({ name }: { name: string }): string => `gate:${name}`;

async function afterFailure(gated: Gated, { plan, state }: MeasuredGate): Promise<boolean> {
  const { rollout, wave, isOver, announcePause } = gated;
  const { gating, result } = rollout;
  const reason = gateReason({ wave, plan, state }, 'failed');
  if (gating.on.failed === 'stop') return stop(gated, plan, 'failed', 'GateFailed', reason);
  Object.assign(gating, { pause: null, failed: reason });
  rollout.decide('pause', authorOf(plan), reason);
  announcePause();
  await condition(() => isOver() || result.phase !== 'paused');
  if (isOver()) return false;
  gating.failed = null;
  return true;
}

/** Some gates could not be judged, and none failed. */
async function afterDoubt(gated: Gated, deciding: MeasuredGate[]): Promise<boolean> {
  const { rollout, wave, isOver, show, announcePause } = gated;
  const { gating, result } = rollout;
  const { on } = gating;
  const doubtful = deciding.filter(({ verdict }) => verdict === 'inconclusive');
  const [{ plan, state }] = doubtful as [MeasuredGate];
  if (on.inconclusive === 'stop')
    return stop(gated, plan, 'unknown', 'OutcomeUnknown', gateReason({ wave, plan, state }, 'is inconclusive'));
  if (result.phase !== 'paused') {
    rollout.decide('pause', authorOf(plan), gateReason({ wave, plan, state }, 'is inconclusive'));
    gating.pause = result.decisions.at(-1) ?? null;
  }
  if (gating.waiting !== null) gating.waiting.inconclusive = doubtful.map((it) => it.plan.name);
  announcePause();
  const endMs = Date.now() + on.patienceMs;
  const isDecided = () => doubtful.some(({ verdict }) => verdict === 'failed');
  const isLetOff = () => result.phase !== 'paused';
  let isClosed = false;
  const isDone = () => isClosed || isOver() || isLetOff() || isDecided() || Date.now() >= endMs;
  const until = {
    wave,
    isOver: isDone,
    onChange: show,
    everyMs: (it: typeof plan) => slowIntervalMs(it, on.patienceMs),
  };
  const measured = Promise.all(doubtful.map((gate) => measureUntilDecided(rollout, gate, until)));
  await Promise.race([measured, condition(isDone, on.patienceMs)]);
  isClosed = true;
  if (isOver()) return false;
  if (isLetOff()) return true;
  const failed = doubtful.find(({ verdict }) => verdict === 'failed');
  if (failed !== undefined) return afterFailure(gated, failed);
  const left = doubtful.find(({ verdict }) => verdict === 'inconclusive');
  if (left !== undefined) {
    const { plan: late, state: last } = left;
    const reason = gateReason({ wave, plan: late, state: last }, 'stayed inconclusive until its patience was over');
    return stop(gated, late, 'unknown', 'OutcomeUnknown', reason);
  }
  resume(gated, doubtful);
  return true;
}

/** Unless a person has paused it meanwhile. */
function resume({ rollout, wave }: Gated, [healed]: readonly MeasuredGate[]): void {
  if (healed === undefined || !mayHeal(rollout)) return;
  const { plan, state } = healed;
  rollout.decide('resume', authorOf(plan), gateReason({ wave, plan, state }, 'passed'));
}

function stop({ rollout }: Gated, plan: { name: string }, outcome: Outcome, type: ErrorType, reason: string): false {
  rollout.stop(authorOf(plan), { outcome, type, reason });
  return false;
}
