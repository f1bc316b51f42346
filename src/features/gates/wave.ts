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
  type GateSubject,
  type Measurement,
  type OnGates,
  type WaitingForGates,
  type WaveGates,
} from './shapes.ts';
import type { Decision, RolloutResult, TargetResult } from '../rollouts/shapes.ts';
import type { RolloutHook, RolloutState, Stop } from '../rollouts/hooks.ts';
import { gateProgress, gateReason } from './text.ts';
import {
  slowIntervalMs,
  hasRoomToMeasure,
  NO_MEASUREMENT,
  noteMeasurement,
  verdictOf,
  type GateState,
} from './rules.ts';
import type { Held } from '../freezes/shapes.ts';
import { isPending } from '../../contract/results.ts';
import { isApp } from '../../contract/target.ts';
import { measureGate } from '../../workflows/activity-proxies.ts';
import { conclude } from '../../workflows/conclusion.ts';

/** The state of the gates in a rollout. */
interface Gating {
  readonly rollout: RolloutState;
  waves: readonly WaveGates[];
  on: Required<OnGates>;
  waiting: WaitingForGates | null;
  /** The last pause for a gate. Null if there was none after this wave. */
  pause: Decision | null;
  /** The reason of a failed gate while the rollout is paused for it. */
  failed: string | null;
  /** For each wave, when the first request to deploy was accepted, in milliseconds since 1970. */
  firstPosts: Map<string, number>;
}

export function gatedWaves(rollout: RolloutState): RolloutHook {
  const { input, facts, result } = rollout;
  const gating: Gating = {
    rollout,
    waves: [],
    on: { failed: 'stop', inconclusive: 'stop', patienceMs: 0 },
    waiting: null,
    pause: null,
    failed: null,
    firstPosts: new Map(),
  };
  return {
    refuse() {
      if (!input.waves.some(({ after }) => after !== undefined)) return null;
      const answer = factOf(facts, GATES_FACT);
      if (answer === undefined)
        return conclude('not_started', 'Refused', 'the worker does not know gates: upgrade all workers first');
      if ('error' in answer) return conclude('not_started', answer.error.type, answer.error.message);
      Object.assign(gating, answer);
      return null;
    },
    /** Its wave may have passed its gates in an earlier attempt, but without this server. */
    starts({ wave }) {
      result.passedWaves = result.passedWaves.filter((it) => it !== wave);
    },
    serverEnded({ wave }, { deployments }) {
      const accepted = deployments.flatMap(({ acceptedAt }) => (acceptedAt === null ? [] : Date.parse(acceptedAt)));
      const { firstPosts } = gating;
      if (accepted.length > 0) firstPosts.set(wave, Math.min(firstPosts.get(wave) ?? Infinity, ...accepted));
    },
    isDue: () => dueGates(gating) !== null,
    async pass() {
      const due = dueGates(gating);
      if (due !== null) await passGates(gating, due);
    },
    waiting: () => (result.phase === 'gate' || mayHeal(gating) ? gating.waiting : null),
    openPhase: () => (gating.waiting === null ? null : 'gate'),
    mayHeal: () => mayHeal(gating),
    failed: () => (gating.failed === null ? null : { outcome: 'failed', type: 'GateFailed', reason: gating.failed }),
  };
}

/** Returns the first wave that has ended without its gates having passed, or null. */
const dueGates = ({ waves, rollout: { result } }: Gating): WaveGates | null =>
  waves.find(({ wave }) => !result.passedWaves.includes(wave) && hasEnded(serversOf(result, wave))) ?? null;

/** Includes servers that earlier attempts completed. */
const serversOf = ({ targets }: Pick<RolloutResult, 'targets'>, wave: string): TargetResult[] =>
  targets.filter((it) => it.wave === wave);

/** A wave in which nothing began has nothing to measure. */
const hasEnded = (targets: readonly TargetResult[]): boolean =>
  targets.every(({ outcome }) => outcome !== null) && targets.some(({ startedAt }) => startedAt !== null);

/** True if a gate that may still pass is the only reason why the rollout is paused. */
const mayHeal = (gating: Gating): boolean =>
  gating.rollout.result.phase === 'paused' && gating.failed === null && !isPausedByOthers(gating);

const isPausedByOthers = ({ pause, rollout }: Gating): boolean =>
  rollout.result.phase === 'paused' && (pause === null || pause !== rollout.lastPause());

/** The gates of a wave while they are measured. */
interface Gated {
  gating: Gating;
  wave: string;
  gates: MeasuredGate[];
}

/** @returns once the rollout may continue, or once it starts nothing more */
async function passGates(gating: Gating, due: WaveGates): Promise<void> {
  const { rollout } = gating;
  const { result, isOver } = rollout;
  const { wave } = due;
  await bake(gating, due);
  if (!isOver()) {
    const gates = due.gates.map(newGate);
    const recordEnds = recordHeldGates(result, wave, gates);
    if (await measureAll({ gating, wave, gates })) result.passedWaves.push(wave);
    recordEnds();
  }
  Object.assign(gating, { waiting: null, pause: null });
  if (result.phase === 'gate') rollout.setPhase('running');
  else rollout.refresh();
}

/** Bakes from the end of the last server on, so that a pause meanwhile adds no time. */
async function bake(gating: Gating, { wave, bakeMs }: WaveGates): Promise<void> {
  const { rollout } = gating;
  const ended = serversOf(rollout.result, wave).flatMap(({ endedAt }) => (endedAt === null ? [] : Date.parse(endedAt)));
  const untilMs = (ended.length === 0 ? Date.now() : Math.max(...ended)) + bakeMs;
  gating.waiting = {
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
  if (leftMs > 0) await condition(rollout.isOver, leftMs);
}

function show({ gating: { waiting, rollout }, gates }: Gated): void {
  if (waiting === null) return;
  const open = gates.filter(({ verdict }) => verdict !== 'passed' && verdict !== 'failed');
  waiting.bakesUntil = null;
  waiting.gates = open.map((it) => gateProgress(it.plan, it.state, new Date(it.nextMs).toISOString()));
  rollout.refresh();
}

/** @returns whether the rollout may continue */
async function measureAll(gated: Gated): Promise<boolean> {
  const { gates, gating } = gated;
  const { isOver } = gating.rollout;
  const binding = (verdict: GateVerdict) =>
    gates.filter((it) => !it.plan.dryRun && it.verdict === verdict && it.overriddenBy === null);
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

function noteDryRun({ gating: { rollout }, wave }: Gated, gate: MeasuredGate): void {
  const { plan, verdict } = gate;
  if (verdict === null) return;
  const would = verdict === 'inconclusive' ? 'would have been' : 'would have';
  rollout.decide('note', authorOf(plan), gateReason(wave, gate, `${would} ${verdict}`));
}

const authorOf = ({ name }: { name: string }): string => `gate:${name}`;

/** @returns whether the rollout may continue with its other gates */
async function afterFailure(gated: Gated, gate: MeasuredGate): Promise<boolean> {
  const { gating, wave } = gated;
  const { plan } = gate;
  const reason = gateReason(wave, gate, 'failed');
  gating.failed = reason;
  if (gating.on.failed === 'stop') return stop(gated, plan, { outcome: 'failed', type: 'GateFailed', reason });
  gate.overriddenBy = await untilResumed(gated, plan, () => reason, { isOver: gating.rollout.isOver });
  if (gate.overriddenBy === null) return false;
  gating.failed = null;
  return true;
}

/**
 * Handles gates that could not be judged while none failed.
 *
 * @returns whether the rollout may continue with its other gates
 */
async function afterDoubt(gated: Gated, doubtful: readonly MeasuredGate[]): Promise<boolean> {
  const { gating } = gated;
  const { on, rollout } = gating;
  const isOpen = ({ verdict }: MeasuredGate) => verdict === 'inconclusive';
  const [{ plan }] = doubtful as [MeasuredGate];
  const reason = () => doubtText(gated, doubtful.filter(isOpen), 'is inconclusive');
  const unknown = { outcome: 'unknown', type: 'OutcomeUnknown' } as const;
  if (on.inconclusive === 'stop') return stop(gated, plan, { ...unknown, reason: reason() });
  if (gating.waiting !== null) gating.waiting.inconclusive = doubtful.map((it) => it.plan.name);
  const isDecided = () => doubtful.some(({ verdict }) => verdict === 'failed') || !doubtful.some(isOpen);
  let isClosed = false;
  const isDone = () => isClosed || rollout.isOver() || isDecided();
  const slowly = (it: GatePlan) => slowIntervalMs(it, on.patienceMs, doubtful.length);
  void measure(gated, doubtful, isDone, slowly);
  const decision = await untilResumed(gated, plan, reason, { isOver: isDone, forMs: on.patienceMs });
  isClosed = true;
  if (gating.waiting !== null) gating.waiting.inconclusive = [];
  if (rollout.isOver()) return false;
  if (decision !== null) {
    for (const gate of doubtful.filter(isOpen)) gate.overriddenBy = decision;
    return true;
  }
  if (!isDecided()) {
    const stayed = doubtText(gated, doubtful.filter(isOpen), 'stayed inconclusive until its patience was over');
    return stop(gated, plan, { ...unknown, reason: stayed });
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
async function untilResumed(
  gated: Gated,
  plan: GatePlan,
  reason: () => string,
  { isOver, forMs }: { isOver: () => boolean; forMs?: number },
): Promise<Decision | null> {
  const { gating } = gated;
  const { rollout } = gating;
  const { result } = rollout;
  const by = authorOf(plan);
  const endMs = forMs === undefined ? null : Date.now() + forMs;
  if (isPausedByOthers(gating)) rollout.decide('note', by, reason());
  else pause();
  function pause(): void {
    rollout.decide('pause', by, reason());
    gating.pause = result.decisions.at(-1) ?? null;
    show(gated);
    rollout.announcePause();
  }
  for (;;) {
    const isMoved = () => isOver() || result.phase !== 'paused';
    const leftMs = endMs === null ? null : endMs - Date.now();
    if (leftMs === null) await condition(isMoved);
    else if (leftMs <= 0 || !(await condition(isMoved, leftMs))) return null;
    if (isOver()) return null;
    if (gating.pause !== null && gating.pause === rollout.lastPause())
      return result.decisions.findLast(({ action }) => action === 'resume') ?? null;
    pause();
  }
}

/** Does nothing if a person has paused the rollout meanwhile. */
function resume({ gating, wave }: Gated, [healed]: readonly MeasuredGate[]): void {
  if (healed === undefined || !mayHeal(gating)) return;
  gating.rollout.decide('resume', authorOf(healed.plan), gateReason(wave, healed, 'passed'));
}

/** What something else has paused, such as a person, stays paused, whatever gates say. */
async function stop({ gating }: Gated, plan: { name: string }, end: Stop): Promise<false> {
  const { rollout } = gating;
  if (isPausedByOthers(gating)) {
    rollout.decide('note', authorOf(plan), end.reason);
    await condition(() => rollout.isOver() || !isPausedByOthers(gating));
  }
  if (!rollout.isOver()) rollout.stop(authorOf(plan), end);
  return false;
}

/** Leaves out gates with a dry run, because they hold nothing back. @returns a function that records how they ended */
function recordHeldGates(result: RolloutResult, wave: string, gates: readonly MeasuredGate[]): () => void {
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
  return () => {
    for (const { gate, held } of open) Object.assign(held, endOf(gate), { to: new Date().toISOString() });
  };
}

function endOf({ verdict, overriddenBy }: MeasuredGate): Partial<Held> {
  if (verdict === 'passed') return { end: 'passed' };
  if (overriddenBy !== null) return { end: 'overridden', by: overriddenBy.by, why: overriddenBy.reason };
  if (verdict === 'failed') return { end: 'failed' };
  return { end: verdict === null ? 'cancelled' : 'gave_up' };
}

/* Measures the gates of one wave side by side. */

interface MeasuredGate {
  plan: GatePlan;
  state: GateState;
  verdict: GateVerdict | null;
  /** The decision of a person that overrides the verdict. Null if there is none. */
  overriddenBy: Decision | null;
  nextMs: number;
}

const newGate = (plan: GatePlan): MeasuredGate => ({
  plan,
  state: NO_MEASUREMENT,
  verdict: null,
  overriddenBy: null,
  nextMs: Date.now() + plan.initialDelayMs,
});

/** @param everyMs how often to measure a gate from now on. Null for the gates' own intervals */
async function measure(
  gated: Gated,
  gates: readonly MeasuredGate[],
  isOver: () => boolean,
  everyMs: ((plan: GatePlan) => number) | null,
): Promise<void> {
  await Promise.all(gates.map((gate) => measureUntilDecided(gated, gate, isOver, everyMs?.(gate.plan) ?? null)));
}

async function measureUntilDecided(
  gated: Gated,
  gate: MeasuredGate,
  isOver: () => boolean,
  everyMs: number | null,
): Promise<void> {
  const { plan, verdict: before } = gate;
  const intervalMs = everyMs ?? plan.intervalMs;
  if (everyMs !== null) gate.nextMs = Date.now() + intervalMs;
  show(gated);
  while (gate.verdict === before) {
    const waitMs = gate.nextMs - Date.now();
    if (waitMs > 0) await condition(isOver, waitMs);
    if (isOver()) return;
    if (!hasRoomToMeasure(workflowInfo(), gated.gating.rollout.result.targets.filter(isPending).length)) {
      gate.state = noteMeasurement(gate.state, NO_ROOM);
      gate.verdict = 'inconclusive';
      return show(gated);
    }
    const beganMs = Date.now();
    const measured = await measureOnce(gated, plan);
    if (isOver()) return;
    gate.state = noteMeasurement(gate.state, measured);
    gate.verdict = verdictOf(gate.state, plan);
    gate.nextMs = beganMs + intervalMs;
    show(gated);
  }
}

const NO_ROOM: Measurement = {
  state: 'none',
  value: null,
  text: 'it is no longer measured: the history of the rollout is long, and a retry measures it again',
};

const NO_WORKER: Measurement = { state: 'error', value: null, text: 'no worker measured it' };

function measureOnce({ gating, wave }: Gated, gate: GatePlan): Promise<Measurement> {
  const service = gating.rollout.result.service ?? '';
  const input = { service, gate, about: subjectOf(gating, gate, wave) };
  const summary = `Measure ${gate.name} after wave ${wave}`;
  return measureGate.executeWithOptions({ summary }, [input]).catch(() => NO_WORKER);
}

/** Passes on a list only if a query uses its word, because a wave may have a thousand servers. */
function subjectOf({ rollout, firstPosts }: Gating, { words }: GatePlan, wave: string): GateSubject {
  const targets = serversOf(rollout.result, wave).filter(({ startedAt }) => startedAt !== null);
  const sites = targets.flatMap((it) => it.deployments.map(({ target }) => target)).filter((it) => !isApp(it));
  const sinceMs = firstPosts.get(wave) ?? Math.min(...targets.map(({ startedAt }) => Date.parse(startedAt ?? '')));
  return {
    wave,
    serverIds: words.includes('servers') ? targets.map(({ serverId }) => serverId) : [],
    siteIds: words.includes('sites') || words.includes('hosts') ? sites.map(({ id }) => id) : [],
    seconds: Math.round((Date.now() - sinceMs) / 1000),
  };
}
