/** A rollout's state: its result as it grows, what is decided about it, and who may ask for both. */
import { defineQuery, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { QUERIES } from '../../contract/run.ts';
import type { NotifyFacts } from '../../contract/activities.ts';
import type {
  Decision,
  RolloutInput,
  RolloutPhase,
  RolloutProgress,
  RolloutResult,
  RolloutTarget,
  RolloutWaiting,
  TargetResult,
} from '../../contract/rollout.ts';
import { emptyRollout } from '../../contract/results/empty-results.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { isRunning, isToCome, sumsOf } from '../../contract/results/tally.ts';
import { whyRollout } from '../../contract/wording/explain-wait.ts';
import { setAttributes } from '../common/search-attributes.ts';
import { plainMeta } from '../run/run-state.ts';
import { rolloutDetails } from './rollout-details.ts';
import { nextStep, stopIn, type Step } from '../rules/rollout-step.ts';
import { answerWhy } from '../common/explain-query.ts';

const progressQuery = defineQuery<RolloutProgress>(QUERIES.progress);

const MAX_DECISIONS = 1_000;

export interface Rollout {
  readonly input: RolloutInput;
  readonly result: RolloutResult;
  /** Whether the namespace has the search attributes; known once it is admitted. */
  searchAttributes: boolean;
  /** Who is told how it ends; known once it is admitted. */
  notify: NotifyFacts | null;
  next(): Step;
  enter(phase: RolloutPhase): void;
  /** Notes who decided what and why, and follows it. */
  decide(what: Decision['what'], by: string, why: string): void;
  /** To be called after each change of a target. */
  refresh(): void;
}

const PHASES: Partial<Record<Decision['what'], RolloutPhase>> = {
  pause: 'paused',
  resume: 'running',
  abort: 'stopping',
  stop: 'stopping',
};

export function openRollout(input: RolloutInput): Rollout {
  const result = newRolloutResult(input);
  const progress: RolloutProgress = { result, waiting: null };
  const rollout: Rollout = {
    input,
    result,
    searchAttributes: false,
    notify: null,
    next() {
      const { maxAtOnce, onFailures } = input;
      return nextStep({ targets: result.targets, maxAtOnce, phase: result.phase ?? 'checking', onFailures });
    },
    enter(phase) {
      result.phase = phase;
      setAttributes(rollout.searchAttributes, {
        phase,
        ...(result.outcome === null ? {} : { outcome: result.outcome }),
      });
      rollout.refresh();
    },
    decide(what, by, why) {
      result.decisions.push({ at: new Date().toISOString(), what, by: plainText(by), why: plainText(why) });
      if (result.decisions.length > MAX_DECISIONS) result.decisions.shift();
      const phase = PHASES[what];
      if (phase === undefined) rollout.refresh();
      else rollout.enter(phase);
    },
    refresh() {
      Object.assign(result, sumsOf(result.targets));
      progress.waiting = waitingOf(input, result);
      setCurrentDetails(rolloutDetails(progress));
    },
  };
  setHandler(progressQuery, () => progress, { description: 'What is known now, and what is waited for.' });
  answerWhy(() => whyRollout(progress.waiting, result.outcome ?? result.phase));
  return rollout;
}

/** @param input null where it was refused */
export function newRolloutResult(input: RolloutInput | null): RolloutResult {
  const { workflowId, runId, startTime } = workflowInfo();
  const targets = [...(input?.before ?? []), ...(input?.waves ?? []).flatMap(targetsOf)];
  return emptyRollout({
    workflowId,
    runId,
    name: input?.name ?? null,
    fleet: input?.fleet ?? null,
    attempt: input?.attempt ?? 1,
    phase: 'checking',
    ...sumsOf(targets),
    targets,
    meta: plainMeta(input?.meta),
    startedAt: startTime.toISOString(),
  });
}

function targetsOf({ name, targets }: { name: string; targets: RolloutTarget[] }): TargetResult[] {
  return targets.map(({ serverId, siteIds, done = [] }) => ({
    serverId,
    wave: name,
    outcome: null,
    workflowId: null,
    backup: null,
    deployments: [
      ...done.map((siteId) => ({ siteId, outcome: 'completed' as const })),
      ...siteIds.map((siteId) => ({ siteId, outcome: null })),
    ],
    error: null,
    heldBy: null,
    startedAt: null,
    endedAt: null,
  }));
}

function waitingOf({ maxAtOnce }: RolloutInput, { phase, targets, decisions }: RolloutResult): RolloutWaiting | null {
  const pause = phase === 'paused' ? decisions.findLast(({ what }) => what === 'pause') : undefined;
  if (pause !== undefined) return { for: 'decision', by: pause.by, because: pause.why, since: pause.at };
  const running = targets.filter(isRunning).map(({ serverId }) => serverId);
  if (running.length === 0) return null;
  if (phase !== 'stopping') return { for: 'servers', running, toCome: targets.filter(isToCome).length, maxAtOnce };
  const stop = stopIn(decisions);
  const stopped = { by: stop?.by ?? '', because: stop?.why ?? '' };
  return { for: 'servers', running, toCome: 0, maxAtOnce, stopped };
}
