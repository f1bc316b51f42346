/**
 * What follows a wave: it bakes, and then its gates are measured. A gate that failed stops the rollout, or pauses it for
 * a decision. One without data pauses it too, is measured on, and lets it resume by itself.
 */
import { condition } from '@temporalio/workflow';
import { factOf } from '../../contract/facts.ts';
import { GATES_FACT, type GatePlan, type WaveGates } from './shapes.ts';
import type { ErrorType, Outcome } from '../../contract/names.ts';
import type { Decision } from '../rollouts/shapes.ts';
import { gateProgress, gateReason } from './text.ts';
import { slowIntervalMs, type GateVerdict } from './rules.ts';
import { lastPause } from '../rollouts/rules.ts';
import { dueGates, isPausedByOthers, mayHeal, recordGates, serversOf } from './gating.ts';
import type { AfterWave } from '../rollouts/hooks.ts';
import { recordHeldGates, type GateHolds } from './held-gates.ts';
import { measureUntilDecided, newGate, type MeasuredGate } from './measure-gates.ts';
import type { RolloutState } from '../rollouts/state.ts';

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
async function passGates(
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
    holds.end();
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
  const { gates, isOver } = gated;
  const inDoubt = (verdict: GateVerdict) =>
    gates.filter((it) => !it.plan.dryRun && it.verdict === verdict && it.letOff === null);
  // A person lets off only what the rollout is paused for: its other gates are measured to their end.
  for (;;) {
    const open = gates.filter(({ verdict }) => verdict === null);
    await measure(gated, open, () => isOver() || inDoubt('failed').length > 0, null);
    if (isOver()) return false;
    for (const gate of open.filter(({ plan }) => plan.dryRun)) noteDryRun(gated, gate);
    const [failed] = inDoubt('failed');
    const doubtful = inDoubt('inconclusive');
    if (failed === undefined && doubtful.length === 0) return true;
    const mayGoOn = failed === undefined ? await afterDoubt(gated, doubtful) : await afterFailure(gated, failed);
    if (!mayGoOn) return false;
  }
}

async function measure(
  { rollout, wave, show: onChange }: Gated,
  gates: readonly MeasuredGate[],
  isOver: () => boolean,
  everyMs: ((plan: GatePlan) => number) | null,
): Promise<void> {
  const until = { wave, isOver, onChange, everyMs };
  await Promise.all(gates.map((gate) => measureUntilDecided(rollout, gate, until)));
}

function noteDryRun({ rollout, wave }: Gated, { plan, state, verdict }: MeasuredGate): void {
  if (verdict === null) return;
  const would = verdict === 'inconclusive' ? 'would have been' : 'would have';
  rollout.decide('note', authorOf(plan), gateReason({ wave, plan, state }, `${would} ${verdict}`));
}

const authorOf = ({ name }: { name: string }): string => `gate:${name}`;

/** @returns whether the rollout may go on with its other gates */
async function afterFailure(gated: Gated, gate: MeasuredGate): Promise<boolean> {
  const { rollout, wave, isOver } = gated;
  const { gating } = rollout;
  const { plan, state } = gate;
  const reason = gateReason({ wave, plan, state }, 'failed');
  if (gating.on.failed === 'stop') return stop(gated, plan, 'failed', 'GateFailed', reason);
  gating.failed = reason;
  gate.letOff = await untilLetOff(gated, plan, () => reason, { isOver });
  if (gate.letOff === null) return false;
  gating.failed = null;
  return true;
}

/** Some gates could not be judged, and none failed. @returns whether the rollout may go on with its other gates */
async function afterDoubt(gated: Gated, doubtful: readonly MeasuredGate[]): Promise<boolean> {
  const { rollout, isOver } = gated;
  const { gating } = rollout;
  const { on } = gating;
  const isOpen = ({ verdict }: MeasuredGate) => verdict === 'inconclusive';
  const [{ plan }] = doubtful as [MeasuredGate];
  const reason = () => doubtText(gated, doubtful.filter(isOpen), 'is inconclusive');
  if (on.inconclusive === 'stop') return stop(gated, plan, 'unknown', 'OutcomeUnknown', reason());
  if (gating.waiting !== null) gating.waiting.inconclusive = doubtful.map((it) => it.plan.name);
  const isDecided = () => doubtful.some(({ verdict }) => verdict === 'failed') || !doubtful.some(isOpen);
  let isClosed = false;
  const isDone = () => isClosed || isOver() || isDecided();
  const slowly = (it: GatePlan) => slowIntervalMs(it, on.patienceMs, doubtful.length);
  void measure(gated, doubtful, isDone, slowly);
  const letOff = await untilLetOff(gated, plan, reason, { isOver: isDone, forMs: on.patienceMs });
  isClosed = true;
  if (gating.waiting !== null) gating.waiting.inconclusive = [];
  if (isOver()) return false;
  if (letOff !== null) for (const gate of doubtful.filter(isOpen)) gate.letOff = letOff;
  else if (!isDecided()) {
    const late = doubtText(gated, doubtful.filter(isOpen), 'stayed inconclusive until its patience was over');
    return stop(gated, plan, 'unknown', 'OutcomeUnknown', late);
  } else if (!doubtful.some(({ verdict }) => verdict === 'failed')) resume(gated, doubtful);
  return true;
}

/** A person who resumes lets all of them off, so all are named. */
function doubtText({ wave }: Gated, [first, ...others]: readonly MeasuredGate[], verdict: string): string {
  if (first === undefined) return '';
  const { plan, state } = first;
  const more = others.length === 0 ? '' : `${others.map((it) => `gate ${it.plan.name}`).join(', ')} as well: `;
  return `${more}${gateReason({ wave, plan, state }, verdict)}`;
}

/**
 * Pauses until a person resumes the rollout. The resume of another pause, which stood before or came meanwhile, lets no
 * gate off: then it pauses again, and people see why.
 *
 * @returns the resume, or null if it is over before
 */
async function untilLetOff(
  { rollout, announcePause, show }: Gated,
  plan: GatePlan,
  reason: () => string,
  { isOver, forMs }: { isOver: () => boolean; forMs?: number },
): Promise<Decision | null> {
  const { gating, result } = rollout;
  const [by, endMs] = [authorOf(plan), forMs === undefined ? null : Date.now() + forMs];
  if (isPausedByOthers(rollout)) rollout.decide('note', by, reason());
  else pause();
  function pause(): void {
    rollout.decide('pause', by, reason());
    gating.pause = result.decisions.at(-1) ?? null;
    show();
    announcePause();
  }
  for (;;) {
    const isMoved = () => isOver() || result.phase !== 'paused';
    const leftMs = endMs === null ? null : endMs - Date.now();
    if (leftMs === null) await condition(isMoved);
    else if (leftMs <= 0 || !(await condition(isMoved, leftMs))) return null;
    if (isOver()) return null;
    if (gating.pause !== null && gating.pause === lastPause(result.decisions))
      return result.decisions.findLast(({ action }) => action === 'resume') ?? null;
    pause();
  }
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

export const gatedWaves: AfterWave = {
  admit: (rollout, facts) => recordGates(rollout, factOf(facts, GATES_FACT)),
  isDue: (rollout) => dueGates(rollout) !== null,
  async pass(rollout, isCancelled, announcePause) {
    const due = dueGates(rollout);
    if (due !== null) await passGates(rollout, due, isCancelled, announcePause);
  },
};
