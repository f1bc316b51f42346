/** The state of a rollout: its growing result, the decisions about it, and what queries and its page show of both. */
import {
  defineQuery,
  setCurrentDetails,
  setHandler,
  workflowInfo,
  condition,
  defineSignal,
  defineUpdate,
} from '@temporalio/workflow';
import type { RolloutHook, RolloutHooks, RolloutState } from './hooks.ts';
import { QUERIES, HOLD_SIGNAL, ROLLOUT_UPDATES } from '../../contract/names.ts';
import type {
  Decision,
  RolloutInput,
  RolloutPhase,
  RolloutProgress,
  RolloutResult,
  RolloutTarget,
  TargetResult,
  DecisionInput,
  ServerHold,
} from './shapes.ts';
import type { RunError } from '../../contract/run.ts';
import { targetsOf } from '../../contract/target.ts';
import {
  emptyRollout,
  named,
  isRunning,
  isPending,
  countTargets,
  countOutcomes,
  countsText,
} from '../../contract/results.ts';
import type { RolloutWaiting } from '../../contract/waiting.ts';
import { plainText, plainMeta, codeSpan, shellWord } from '../../contract/safe-text.ts';
import { explainRollout, rolloutSentence } from '../../contract/explain-wait.ts';
import type { Cancellation } from '../../workflows/cancellation.ts';
import { restoredSince } from '../../workflows/check-worker.ts';
import { conclude, usageFailure, type Conclusion } from '../../workflows/conclusion.ts';
import { unlessReset } from '../../workflows/reset.ts';
import {
  setAttributes,
  answerWhyQuery,
  checkServiceFirst,
  endedHeading,
  MARKDOWN,
  shortText,
} from '../../workflows/ui.ts';
import {
  type DecisionName,
  failuresIn,
  lastPause,
  nextStep,
  stopIn,
  openOfCurrentWave,
  onlyHeldServers,
  problemOfDecision,
  RESTORED,
} from './rules.ts';
import { factList, uiPage, uiTable, workflowLink } from '../../contract/markdown.ts';
import { heldText } from '../freezes/text.ts';
import { concernsService } from '../../contract/service-identity.ts';

const progressQuery = defineQuery<RolloutProgress>(QUERIES.progress);

const MAX_DECISIONS = 1_000;

const PHASES: Partial<Record<Decision['action'], RolloutPhase>> = {
  pause: 'paused',
  abort: 'stopping',
  stop: 'stopping',
};

type Known = Pick<RolloutState, 'input' | 'plan' | 'facts'> & { cancellation: Cancellation };

export function createRolloutState(known: Known, create: RolloutHooks): RolloutState {
  const { input, plan, facts, cancellation } = known;
  const result = newRolloutResult(input);
  const progress: RolloutProgress = { result, waiting: null };
  const hooks: RolloutHook[] = [];
  let stopped: Conclusion | null = null;
  const rollout: RolloutState = {
    input,
    plan,
    facts,
    hooks,
    result,
    get stopped() {
      return stopped;
    },
    acceptedFailures: 0,
    isOver: () => cancellation.requested || result.phase === 'stopping',
    next() {
      const { maxAtOnce, onFailures } = input;
      return nextStep({ targets: result.targets, maxAtOnce, phase: result.phase ?? 'checking', onFailures });
    },
    lastPause: () => lastPause(result.decisions),
    setPhase(phase) {
      result.phase = phase;
      setAttributes(facts.searchAttributes, { phase, outcome: result.outcome });
      rollout.refresh();
    },
    decide(action, by, reason) {
      result.decisions.push({ at: new Date().toISOString(), action, by: plainText(by), reason: plainText(reason) });
      if (result.decisions.length > MAX_DECISIONS) forgetOne(result);
      const phase = action === 'resume' ? (openPhase(rollout) ?? 'running') : PHASES[action];
      if (phase === undefined) rollout.refresh();
      else rollout.setPhase(phase);
    },
    announcePause: () => hooks.forEach((it) => it.paused?.()),
    stop(by, { outcome, type, reason }) {
      stopped = conclude(outcome, type, `stopped: ${reason}`);
      rollout.decide('stop', by, reason);
    },
    stopIfRestored(epoch) {
      const restored = restoredSince(facts, { epoch });
      if (restored === null) return false;
      if (result.phase !== 'stopping') rollout.decide('stop', RESTORED, restored.error?.message ?? '');
      return true;
    },
    refresh() {
      Object.assign(result, countTargets(result.targets));
      progress.waiting = waitingNow(rollout);
      setCurrentDetails(rolloutDetails(progress, whyNotResumed(rollout)));
    },
  };
  hooks.push(...create.map((it) => it(rollout)));
  setHandler(progressQuery, () => progress, { description: 'What is known now, and what the rollout waits for.' });
  answerWhyQuery(() => explainRollout(progress));
  return rollout;
}

/** The rollout goes by its last pause, by its stop, and by the holds that it paused for or still may pause for. */
function forgetOne({ decisions, targets }: RolloutResult): void {
  const kept = [lastPause(decisions)?.by, ...targets.map((it) => it.heldByEvent)];
  const first = decisions.findIndex(
    ({ action, by }) => (action === 'hold' && !kept.includes(by)) || action === 'release' || action === 'note',
  );
  decisions.splice(Math.max(0, first), 1);
}

/** @param input null if the worker rejected it */
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

/** The phase of what is open beside the servers, to which a resume returns. */
const openPhase = ({ hooks }: RolloutState): RolloutPhase | null => firstOf(hooks, (it) => it.openPhase?.());

const whyNotResumed = (rollout: RolloutState): string | null => firstOf(rollout.hooks, (it) => it.whyNotResumed?.());

/** True while something is open. A resume then decides nothing about held servers. */
const asksAboutOther = (rollout: RolloutState): boolean => openPhase(rollout) !== null;

const waitingNow = (rollout: RolloutState): RolloutWaiting | null =>
  firstOf(rollout.hooks, (it) => it.waiting?.()) ?? waitingForDecisionOrServers(rollout);

/** The first answer of a hook that is not null. The hooks after it are not asked. */
export function firstOf<T>(hooks: readonly RolloutHook[], ask: (hook: RolloutHook) => T | null | undefined): T | null {
  for (const hook of hooks) {
    const answer = ask(hook) ?? null;
    if (answer !== null) return answer;
  }
  return null;
}

function waitingForDecisionOrServers(rollout: RolloutState): RolloutWaiting | null {
  const { maxAtOnce } = rollout.input;
  const { phase, targets, decisions } = rollout.result;
  const pause = phase === 'paused' ? lastPause(decisions) : undefined;
  if (pause !== undefined) {
    const held = asksAboutOther(rollout) ? [] : onlyHeldServers(targets).map(({ serverId }) => serverId);
    const asked = { kind: 'decision', by: pause.by, reason: pause.reason, since: pause.at } as const;
    return held.length === 0 ? asked : { ...asked, held };
  }
  const running = targets.filter(isRunning).map(({ serverId }) => serverId);
  if (running.length === 0) return null;
  if (phase !== 'stopping') return { kind: 'servers', running, pending: targets.filter(isPending).length, maxAtOnce };
  const stop = stopIn(decisions);
  const stopped = { by: stop?.by ?? '', reason: stop?.reason ?? '' };
  return { kind: 'servers', running, pending: 0, maxAtOnce, stopped };
}

/* Shows the present state of a rollout on its page in the Temporal UI. */

const MAX_SERVERS_SHOWN = 30;

function rolloutDetails(progress: RolloutProgress, whyNot: string | null): string {
  const { phase, error, servers, deployments, decisions } = progress.result;
  return uiPage(
    headingOf(progress),
    error === null ? null : codeSpan(error.message),
    factList({
      Servers: countsText(servers, phase),
      Deployments: countsText(deployments, phase),
      'Latest decision': decisionText(decisions.at(-1)),
      'Decision before': decisionText(decisions.at(-2)),
    }),
    ...progress.result.held.map((it) => heldText(it, codeSpan)),
    serversTable(progress.result),
    commandsOf(progress.result, whyNot),
  );
}

function headingOf({ result: { outcome, phase, error }, waiting }: RolloutProgress): string {
  if (outcome !== null || phase === 'done') return endedHeading({ outcome, error });
  if (waiting === null) return `**${phase}**`;
  const sentence = rolloutSentence(waiting, null, MARKDOWN.quote);
  // The sentence about a paused rollout already begins with the phase.
  return waiting.kind !== 'servers' ? sentence.replace(/^paused/, '**paused**') : `**${phase}**: ${sentence}`;
}

function decisionText(decision: RolloutResult['decisions'][number] | undefined): string | null {
  if (decision === undefined) return null;
  const { at, action, by, reason } = decision;
  return `${action} by ${codeSpan(by)} at ${at}: ${codeSpan(reason)}`;
}

/** Servers that need attention come first. */
function serversTable({ targets }: RolloutResult): string | null {
  const isHeld = ({ heldByEvent, outcome }: TargetResult) => heldByEvent !== null && outcome === null;
  const ordered = [
    ...targets.filter(({ outcome }) => outcome !== null && outcome !== 'completed'),
    ...targets.filter(isHeld),
    ...targets.filter((it) => isRunning(it) && !isHeld(it)),
    ...targets.filter(({ outcome }) => outcome === 'completed').reverse(),
  ];
  if (ordered.length === 0) return null;
  const rows = ordered.slice(0, MAX_SERVERS_SHOWN).map(serverRow);
  const hidden = ordered.length - rows.length;
  const more = hidden > 0 ? `\n\nand ${hidden} more` : '';
  return `${uiTable(['Server', 'Wave', 'State', 'Deployments'], rows)}${more}`;
}

function serverRow(target: TargetResult): string[] {
  const { serverId, wave, outcome, error, heldByEvent, workflowId, deployments } = target;
  const state = outcome ?? (heldByEvent === null ? 'in progress' : `held by ${workflowLink(heldByEvent)}`);
  const counts = countOutcomes(deployments.map((it) => ({ outcome: it.outcome, isRunning: isRunning(target) })));
  return [
    workflowId === null ? codeSpan(serverId) : workflowLink(workflowId, { label: codeSpan(serverId) }),
    codeSpan(wave),
    `${state}${error === null ? '' : `: ${shortText(error.message)}`}`,
    countsText(counts),
  ];
}

/** @param whyNot why no person can resume it now */
function commandsOf({ workflowId, outcome, phase, targets }: RolloutResult, whyNot: string | null): string | null {
  const id = shellWord(workflowId ?? '');
  if (outcome === 'completed') return null;
  if (outcome !== null || phase === 'done')
    return `${checkServiceFirst(outcome, targets)}Start the servers that are not completed again: \`npx belay-deploy rollout retry ${id}\`.`;
  const [effect, command] =
    phase === 'paused' && whyNot === null ? ['Continue', 'resume'] : ['Start no more servers', 'pause'];
  return (
    `${phase === 'paused' && whyNot !== null ? `It cannot be resumed now: ${whyNot}. ` : ''}` +
    `${effect}: \`npx belay-deploy rollout ${command} ${id} --reason TEXT\`. ` +
    `End it: \`npx belay-deploy rollout abort ${id} --reason TEXT\`. Wait for its verdict: \`npx belay-deploy wait ${id}\`.`
  );
}

/* Handles decisions about a rollout in flight, and records each with its author and reason. */

const holdSignal = defineSignal<[ServerHold]>(HOLD_SIGNAL);

/** The state of a rollout from its first moment on. */
export interface Beginning {
  /** Null until a worker has checked the request. */
  rollout: RolloutState | 'refused' | null;
}

/**
 * Call this before anything is awaited, because Temporal rejects an update without a handler. A decision that arrives
 * before the request is checked waits for the check.
 */
export function handleDecisions(beginning: Beginning): void {
  function handle(name: DecisionName, description: string, refuse: OnDecision, act: OnDecision): void {
    const handler = async (decision: DecisionInput) => {
      if (beginning.rollout === null) await condition(() => beginning.rollout !== null);
      const { rollout } = beginning;
      if (rollout === null || rollout === 'refused')
        throw usageFailure('a worker refused the request, so there is no rollout to decide about');
      refuse(rollout, decision);
      act(rollout, decision);
    };
    const validator = (decision: DecisionInput) => {
      const problem = problemOfDecision(name, decision);
      if (problem !== null) throw usageFailure(problem);
      const { rollout } = beginning;
      if (rollout !== null && rollout !== 'refused') refuse(rollout, decision);
    };
    setHandler(defineUpdate<void, [DecisionInput]>(ROLLOUT_UPDATES[name]), handler, { validator, description });
  }
  const decides =
    (action: 'pause' | 'abort'): OnDecision =>
    (rollout, { by, reason }) =>
      rollout.decide(action, by, reason);
  handle('pause', 'Start no more servers until resumed. Running ones continue.', refusePause, decides('pause'));
  handle('resume', 'Start servers again. With serverId: release that held server.', refuseResume, resumeRollout);
  handle('abort', 'Start no more servers. Running ones finish.', refuseWhenOver, decides('abort'));
}

/** Temporal keeps signals until their handler is set. @param served the service of the workers */
export const handleHolds = (rollout: RolloutState, served: string): void =>
  setHandler(holdSignal, (hold) => holdTarget(rollout, hold, served), {
    description: 'Hold a server because of an event, unless it has started.',
  });

type OnDecision = (rollout: RolloutState, decision: DecisionInput) => void;

function resumeRollout(rollout: RolloutState, { by, reason, serverId }: DecisionInput): void {
  const held = heldTarget(rollout, serverId);
  if (held !== null) {
    held.heldByEvent = null;
    rollout.decide('release', by, `server ${serverId}: ${reason}`);
    // This accepts no failure, and skips no other server.
    if (isLastHeldReleased(rollout)) rollout.decide('resume', by, reason);
    return;
  }
  rollout.acceptedFailures = failuresIn(rollout.result.targets);
  skipHeldServers(rollout);
  rollout.decide('resume', by, reason);
}

/** A resume without a release skips the held servers, if nothing else keeps the next wave from starting. */
function skipHeldServers(rollout: RolloutState): void {
  const held = onlyHeldServers(rollout.result.targets);
  if (held.length > 0 && asksAboutOther(rollout)) return;
  for (const target of held) skip(target, concludeHeld(target));
}

/** After a restore or a reset, a server without a start may have been started before. */
export function skip(target: TargetResult, conclusion: Conclusion): void {
  const isKnown = conclusion.outcome !== 'unknown';
  const { outcome: skipped, error } = unlessReset(isKnown ? { ...conclusion, outcome: 'not_started' } : conclusion);
  target.outcome = skipped;
  target.error = error ?? NOT_BEGUN;
  for (const deployment of target.deployments) deployment.outcome ??= skipped;
}

export const concludeHeld = ({ heldByEvent }: TargetResult) =>
  conclude('not_started', 'Busy', `held by ${heldByEvent}`);

const NOT_BEGUN: RunError = { type: 'Cancelled', message: 'it was not started' };

function refusePause(rollout: RolloutState): void {
  refuseWhenOver(rollout);
  // A pause by a person outlasts one that ends by itself.
  if (rollout.result.phase === 'paused' && !rollout.hooks.some((it) => it.mayHeal?.() === true))
    throw usageFailure('the rollout is already paused');
}

function refuseWhenOver({ result: { phase } }: RolloutState): void {
  if (phase === 'stopping' || phase === 'done') throw usageFailure('the rollout starts no more servers');
}

function refuseResume(rollout: RolloutState, { serverId }: DecisionInput): void {
  refuseWhenOver(rollout);
  if (serverId === undefined && rollout.result.phase !== 'paused') throw usageFailure('the rollout is not paused');
  const whyNot = whyNotResumed(rollout);
  if (serverId === undefined && whyNot !== null) throw usageFailure(whyNot);
  if (serverId !== undefined && heldTarget(rollout, serverId) === null)
    throw usageFailure(`server ${serverId} is not held`);
}

function heldTarget({ result: { targets } }: RolloutState, serverId: string | undefined): TargetResult | null {
  return targets.find((it) => it.serverId === serverId && it.heldByEvent !== null && isPending(it)) ?? null;
}

/** True if the rollout is paused for held servers, and no server of its wave is held any more. */
function isLastHeldReleased({ result: { phase, targets, decisions } }: RolloutState): boolean {
  const pause = lastPause(decisions);
  const isForHeld = decisions.some(({ action, by }) => action === 'hold' && by === pause?.by);
  const isHeld = openOfCurrentWave(targets).some((it) => it.heldByEvent !== null && isPending(it));
  return phase === 'paused' && isForHeld && !isHeld;
}

/** Ignores malformed signals, since the UI can send any, and an event that has held a server before. */
function holdTarget(rollout: RolloutState, hold: Partial<ServerHold> | null | undefined, served: string): void {
  const { serverId, event, reason } = hold ?? {};
  if (typeof event !== 'string' || typeof reason !== 'string') return;
  const known = rollout.result.service ?? rollout.input.service;
  if (!concernsService(hold?.services, { service: known ?? served, formerly: [] })) return;
  const { targets, decisions } = rollout.result;
  const target = targets.find((it) => it.serverId === serverId && isPending(it));
  const by = plainText(event);
  if (target === undefined || decisions.some((it) => it.action === 'hold' && it.by === by)) return;
  target.heldByEvent = by;
  rollout.decide('hold', by, `server ${serverId}: ${reason}`);
}
