/** A rollout's state: its growing result, the decisions about it, and the queries for both. */
import type { RolloutHooks } from './hooks.ts';
import { defineQuery, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { QUERIES, type ErrorType, type Outcome } from '../../contract/names.ts';
import type { Approved, PlannedPart, WaveRule } from '../approvals/shapes.ts';
import type { HashTree } from '../approvals/plan-hash.ts';
import type { LetOff } from '../freezes/shapes.ts';
import type { RunPlan } from '../../contract/run.ts';
import type { NotifySettings } from '../../contract/activities.ts';
import type {
  Decision,
  RolloutInput,
  RolloutPhase,
  RolloutProgress,
  RolloutResult,
  RolloutTarget,
  TargetResult,
} from './shapes.ts';
import { targetsOf } from '../../contract/target.ts';
import { emptyRollout, named } from '../../contract/results.ts';
import type { RolloutWaiting, WaitingForApproval, WaitingForThaw } from '../../contract/waiting.ts';
import { plainText, plainMeta } from '../../contract/safe-text.ts';
import { isRunning, isPending, countTargets } from '../../contract/tally.ts';
import { explainRollout } from '../../contract/explain-wait.ts';
import { listenForAnswers, type Approvals } from '../approvals/listen.ts';
import { createThaws, type Thaws } from '../freezes/thaws.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';
import { setAttributes } from '../../workflows/search-attributes.ts';
import { createGating, mayHeal, type Gating } from '../gates/gating.ts';
import { rolloutDetails } from './rollout-details.ts';
import { lastPause, nextStep, stopIn, type Step } from './rules.ts';
import { answerWhyQuery } from '../../workflows/explain-query.ts';

const progressQuery = defineQuery<RolloutProgress>(QUERIES.progress);

const MAX_DECISIONS = 1_000;

export interface RolloutState {
  readonly input: RolloutInput;
  readonly plan: RunPlan;
  readonly result: RolloutResult;
  /** The epoch in which the rollout was admitted. */
  epoch: string | null;
  /** Whether the namespace has the search attributes; known once the rollout is admitted. */
  searchAttributes: boolean;
  /** Where to send notifications; known once the rollout is admitted. */
  notify: NotifySettings | null;
  /** What does not hold its runs back; known once the rollout is admitted. */
  letOff: LetOff[];
  /** Its waits for freezes. */
  readonly thaws: Thaws;
  /** How a freeze, a missing approval or a gate stopped it; null if none did. */
  stopped: Conclusion | null;
  /** The freeze that it waits for, or null. */
  thaw: WaitingForThaw | null;
  /** What is asked to be approved. */
  readonly approvals: Approvals;
  /** What it waits for people to approve, or null. */
  asking: WaitingForApproval | null;
  /** What it has to ask, and what was approved. */
  readonly approved: RolloutApprovals;
  /** What follows its waves. */
  readonly gating: Gating;
  readonly hooks: RolloutHooks;
  next(): Step;
  setPhase(phase: RolloutPhase): void;
  /** Records a decision and applies it. */
  decide(action: Decision['action'], by: string, reason: string): void;
  /** Records that it starts no more servers, and with what it ends unless a person aborts it as well. */
  stop(by: string, end: Stop): void;
  /** Call it after each change of a target. */
  refresh(): void;
}

/** The approvals of a rollout. */
interface RolloutApprovals {
  /** What has to be asked before a wave. */
  waves: readonly WaveRule[];
  /** Of the whole rollout; null if none was needed. */
  all: ApprovedParts | null;
  /** By name of the wave. */
  ofWaves: Map<string, ApprovedParts>;
}

/** What was approved, with the parts that its root hash is made of. */
export interface ApprovedParts {
  approved: Approved;
  parts: PlannedPart[];
  tree: HashTree;
}

const PHASES: Partial<Record<Decision['action'], RolloutPhase>> = {
  pause: 'paused',
  resume: 'running',
  abort: 'stopping',
  stop: 'stopping',
};

export interface Stop {
  outcome: Outcome;
  type: ErrorType;
  reason: string;
}

export function createRolloutState(input: RolloutInput, plan: RunPlan, hooks: RolloutHooks): RolloutState {
  const result = newRolloutResult(input);
  const progress: RolloutProgress = { result, waiting: null };
  const rollout: RolloutState = {
    input,
    plan,
    hooks,
    result,
    epoch: null,
    searchAttributes: false,
    notify: null,
    letOff: [],
    thaws: createThaws(),
    stopped: null,
    thaw: null,
    approvals: listenForAnswers(),
    asking: null,
    approved: { waves: [], all: null, ofWaves: new Map() },
    gating: createGating(),
    next() {
      const { maxAtOnce, onFailures } = input;
      return nextStep({ targets: result.targets, maxAtOnce, phase: result.phase ?? 'checking', onFailures });
    },
    setPhase(phase) {
      result.phase = phase;
      setAttributes(rollout.searchAttributes, { phase, outcome: result.outcome });
      rollout.refresh();
    },
    decide(action, by, reason) {
      result.decisions.push({ at: new Date().toISOString(), action, by: plainText(by), reason: plainText(reason) });
      if (result.decisions.length > MAX_DECISIONS) result.decisions.shift();
      const phase = action === 'resume' && rollout.gating.waiting !== null ? 'gate' : PHASES[action];
      if (phase === undefined) rollout.refresh();
      else rollout.setPhase(phase);
    },
    stop(by, { outcome, type, reason }) {
      rollout.stopped = conclude(outcome, type, `stopped: ${reason}`);
      rollout.decide('stop', by, reason);
    },
    refresh() {
      Object.assign(result, countTargets(result.targets));
      progress.waiting =
        rollout.thaw ??
        (result.phase === 'approval' ? rollout.asking : null) ??
        (result.phase === 'gate' || mayHeal(rollout) ? rollout.gating.waiting : null) ??
        waitingOf(input, result);
      setCurrentDetails(rolloutDetails(progress));
    },
  };
  setHandler(progressQuery, () => progress, { description: 'What is known now, and what the rollout waits for.' });
  answerWhyQuery(() => explainRollout(progress.waiting, result.outcome ?? result.phase));
  return rollout;
}

/** @param input null if it was rejected */
export function newRolloutResult(input: RolloutInput | null): RolloutResult {
  const { workflowId, runId, startTime } = workflowInfo();
  const targets = [...(input?.previousResults ?? []), ...(input?.waves ?? []).flatMap(resultsOf)];
  return emptyRollout({
    workflowId,
    runId,
    name: input?.name ?? null,
    fleet: input?.fleet ?? null,
    attempt: input?.attempt ?? 1,
    phase: 'checking',
    ...countTargets(targets),
    targets,
    passedWaves: input?.passedWaves ?? [],
    meta: plainMeta(input?.meta),
    startedAt: startTime.toISOString(),
  });
}

function resultsOf({ name, targets }: { name: string; targets: RolloutTarget[] }): TargetResult[] {
  return targets.map(({ serverId, completedTargets = [], ...left }) => ({
    serverId,
    wave: name,
    outcome: null,
    workflowId: null,
    backup: null,
    deployments: [
      ...completedTargets.map((target) => ({ ...named(target), outcome: 'completed' as const })),
      ...targetsOf(left).map((target) => ({ ...named(target), outcome: null })),
    ],
    error: null,
    heldByEvent: null,
    startedAt: null,
    endedAt: null,
  }));
}

function waitingOf({ maxAtOnce }: RolloutInput, { phase, targets, decisions }: RolloutResult): RolloutWaiting | null {
  const pause = phase === 'paused' ? lastPause(decisions) : undefined;
  if (pause !== undefined) return { kind: 'decision', by: pause.by, reason: pause.reason, since: pause.at };
  const running = targets.filter(isRunning).map(({ serverId }) => serverId);
  if (running.length === 0) return null;
  if (phase !== 'stopping') return { kind: 'servers', running, pending: targets.filter(isPending).length, maxAtOnce };
  const stop = stopIn(decisions);
  const stopped = { by: stop?.by ?? '', reason: stop?.reason ?? '' };
  return { kind: 'servers', running, pending: 0, maxAtOnce, stopped };
}
