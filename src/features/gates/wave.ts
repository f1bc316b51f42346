/**
 * After a wave, the rollout bakes and then measures its gates. A failed gate stops the rollout, or pauses it for a
 * decision. An inconclusive gate may pause it, too; Belay keeps measuring it, and resumes the rollout by itself when
 * the gate passes.
 */
import { condition, workflowInfo } from '@temporalio/workflow';
import { factOf } from '../../contract/facts.ts';
import {
  GATES_FACT,
  type GatePlan,
  type GateVerdict,
  type WaveGates,
  type GateSubject,
  type Measurement,
} from './shapes.ts';
import type { ErrorType, Outcome } from '../../contract/names.ts';
import type { Decision, RolloutResult } from '../rollouts/shapes.ts';
import { gateProgress, gateReason } from './text.ts';
import {
  slowIntervalMs,
  hasRoomToMeasure,
  NO_MEASUREMENT,
  noteMeasurement,
  verdictOf,
  type GateState,
} from './rules.ts';
import { lastPause } from '../rollouts/rules.ts';
import { dueGates, isPausedByOthers, mayHeal, recordGates, serversOf } from './gating.ts';
import type { AfterWave } from '../rollouts/hooks.ts';
import type { RolloutState } from '../rollouts/state.ts';
import type { Held } from '../freezes/shapes.ts';
import { isPending } from '../../contract/results.ts';
import { isApp } from '../../contract/target.ts';
import { measureGate } from '../../workflows/activity-proxies.ts';

interface Gated {
  rollout: RolloutState;
  wave: string;
  gates: MeasuredGate[];
  isOver: () => boolean;
  show: () => void;
  /** Notifies people of a pause. */
  announcePause: () => void;
}

/** @returns once the rollout may continue, or once it starts nothing more */
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
    const held = recordHeldGates(result, due.wave, gates);
    const gated: Gated = { rollout, wave: due.wave, gates, isOver, announcePause, show };
    function show(): void {
      const open = gates.filter(({ verdict }) => verdict !== 'passed' && verdict !== 'failed');
      if (gating.waiting === null) return;
      gating.waiting.bakesUntil = null;
      gating.waiting.gates = open.map((it) => gateProgress(it.plan, it.state, new Date(it.nextMs).toISOString()));
      rollout.refresh();
    }
    if (await measureAll(gated)) result.passedWaves.push(due.wave);
    held.end();
  }
  Object.assign(gating, { waiting: null, pause: null });
  if (result.phase === 'gate') rollout.setPhase('running');
  else rollout.refresh();
}

/** Bakes from the end of the last server on, so that a pause meanwhile adds no time. */
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

/** @returns whether the rollout may continue */
async function measureAll(gated: Gated): Promise<boolean> {
  const { gates, isOver } = gated;
  const binding = (verdict: GateVerdict) =>
    gates.filter((it) => !it.plan.dryRun && it.verdict === verdict && it.letOff === null);
  // A person who resumes overrides only the gates that paused the rollout. Its other gates are measured to their end.
  for (;;) {
    const open = gates.filter(({ verdict }) => verdict === null);
    await measure(gated, open, () => isOver() || binding('failed').length > 0, null);
    if (isOver()) return false;
    for (const gate of open.filter(({ plan }) => plan.dryRun)) noteDryRun(gated, gate);
    const [failed] = binding('failed');
    const doubtful = binding('inconclusive');
    if (failed === undefined && doubtful.length === 0) return true;
    const mayContinue = failed === undefined ? await afterDoubt(gated, doubtful) : await afterFailure(gated, failed);
    if (!mayContinue) return false;
  }
}

async function measure(
  { rollout, wave, show: onChange }: Gated,
  gates: readonly MeasuredGate[],
  isOver: () => boolean,
  everyMs: ((plan: GatePlan) => number) | null,
): Promise<void> {
  const how = { wave, isOver, onChange, everyMs };
  await Promise.all(gates.map((gate) => measureUntilDecided(rollout, gate, how)));
}

function noteDryRun({ rollout, wave }: Gated, gate: MeasuredGate): void {
  const { plan, verdict } = gate;
  if (verdict === null) return;
  const would = verdict === 'inconclusive' ? 'would have been' : 'would have';
  rollout.decide('note', authorOf(plan), gateReason(wave, gate, `${would} ${verdict}`));
}

const authorOf = ({ name }: { name: string }): string => `gate:${name}`;

/** @returns whether the rollout may continue with its other gates */
async function afterFailure(gated: Gated, gate: MeasuredGate): Promise<boolean> {
  const { rollout, wave, isOver } = gated;
  const { gating } = rollout;
  const { plan } = gate;
  const reason = gateReason(wave, gate, 'failed');
  if (gating.on.failed === 'stop') return stop(gated, plan, 'failed', 'GateFailed', reason);
  gating.failed = reason;
  gate.letOff = await untilLetOff(gated, plan, () => reason, { isOver });
  if (gate.letOff === null) return false;
  gating.failed = null;
  return true;
}

/**
 * Handles gates that could not be judged while none failed.
 *
 * @returns whether the rollout may continue with its other gates
 */
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
  if (letOff !== null) {
    for (const gate of doubtful.filter(isOpen)) gate.letOff = letOff;
    return true;
  }
  if (!isDecided()) {
    const stayed = doubtText(gated, doubtful.filter(isOpen), 'stayed inconclusive until its patience was over');
    return stop(gated, plan, 'unknown', 'OutcomeUnknown', stayed);
  }
  if (!doubtful.some(({ verdict }) => verdict === 'failed')) resume(gated, doubtful);
  return true;
}

/** Names all doubtful gates, because a person who resumes overrides all of them. */
function doubtText({ wave }: Gated, [first, ...others]: readonly MeasuredGate[], judged: string): string {
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : `${others.map((it) => `gate ${it.plan.name}`).join(', ')} as well: `;
  return `${more}${gateReason(wave, first, judged)}`;
}

/**
 * Pauses until a person resumes the rollout. A resume that belongs to another pause overrides no gate: the rollout
 * pauses again, and people see why.
 *
 * @returns the resume, or null if the rollout is over before
 */
async function untilLetOff(
  { rollout, announcePause, show }: Gated,
  plan: GatePlan,
  reason: () => string,
  { isOver, forMs }: { isOver: () => boolean; forMs?: number },
): Promise<Decision | null> {
  const { gating, result } = rollout;
  const by = authorOf(plan);
  const endMs = forMs === undefined ? null : Date.now() + forMs;
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

/** Does nothing if a person has paused the rollout meanwhile. */
function resume({ rollout, wave }: Gated, [healed]: readonly MeasuredGate[]): void {
  if (healed === undefined || !mayHeal(rollout)) return;
  rollout.decide('resume', authorOf(healed.plan), gateReason(wave, healed, 'passed'));
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

interface HeldGates {
  end(): void;
}

/** Leaves out gates with a dry run, because they hold nothing back. */
function recordHeldGates(result: RolloutResult, wave: string, gates: readonly MeasuredGate[]): HeldGates {
  const from = new Date().toISOString();
  const open = gates
    .filter(({ plan }) => !plan.dryRun)
    .map((gate) => {
      const { name } = gate.plan;
      // `gateHeldText` in the words for freezes reads the wave from this text.
      const held: Held = { for: 'gate', name, from, to: null, end: null, by: null, why: `after wave ${wave}` };
      result.held.push(held);
      return { gate, held };
    });
  return {
    end() {
      for (const { gate, held } of open) Object.assign(held, endOf(gate), { to: new Date().toISOString() });
    },
  };
}

function endOf({ verdict, letOff }: MeasuredGate): Partial<Held> {
  if (verdict === 'passed') return { end: 'passed' };
  if (letOff !== null) return { end: 'overridden', by: letOff.by, why: letOff.reason };
  if (verdict === 'failed') return { end: 'failed' };
  return { end: verdict === null ? 'cancelled' : 'gave_up' };
}

/* Measures the gates of one wave side by side. */

interface MeasuredGate {
  plan: GatePlan;
  state: GateState;
  verdict: GateVerdict | null;
  /** The decision of a person that overrides the verdict. Null if there is none. */
  letOff: Decision | null;
  nextMs: number;
}

const newGate = (plan: GatePlan): MeasuredGate => ({
  plan,
  state: NO_MEASUREMENT,
  verdict: null,
  letOff: null,
  nextMs: Date.now() + plan.initialDelayMs,
});

interface Measuring {
  wave: string;
  isOver: () => boolean;
  onChange: () => void;
  /** How often to measure from now on. Null for the gate's own interval. */
  everyMs: ((plan: GatePlan) => number) | null;
}

async function measureUntilDecided(rollout: RolloutState, gate: MeasuredGate, how: Measuring): Promise<void> {
  const { wave, isOver, onChange, everyMs } = how;
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

/** Passes on a list only if a query uses its word, because a wave may have a thousand servers. */
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
