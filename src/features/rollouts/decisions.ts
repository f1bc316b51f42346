/** Handles decisions about a rollout in flight, and records each with its author and reason. */
import { ApplicationFailure } from '@temporalio/common';
import { condition, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import { HOLD_SIGNAL, ROLLOUT_UPDATES } from '../../contract/names.ts';
import type { DecisionInput, ServerHold, TargetResult } from './shapes.ts';
import { plainText } from '../../contract/safe-text.ts';
import { concernsService } from '../../contract/service-identity.ts';
import { mayHeal } from '../gates/gating.ts';
import type { RolloutState } from './state.ts';
import { isPending } from '../../contract/results.ts';
import { lastPause, openOfWave } from './rules.ts';

const pauseUpdate = defineUpdate<void, [DecisionInput]>(ROLLOUT_UPDATES.pause);
const resumeUpdate = defineUpdate<void, [DecisionInput]>(ROLLOUT_UPDATES.resume);
const abortUpdate = defineUpdate<void, [DecisionInput]>(ROLLOUT_UPDATES.abort);
const holdSignal = defineSignal<[ServerHold]>(HOLD_SIGNAL);

/** The state of a rollout from its first moment on. */
export interface Beginning {
  /** Null until a worker has checked the request. */
  rollout: RolloutState | null;
  isRefused: boolean;
  onResumed: () => void;
}

/**
 * Call this before anything is awaited, because Temporal rejects an update without a handler. A decision that arrives
 * before the request is checked waits for the check.
 */
export function handleDecisions(beginning: Beginning): void {
  const decidedBy = (refuse: Decide, act: Decide) => async (decision: DecisionInput) => {
    const rollout = beginning.rollout ?? (await checkedRollout(beginning));
    if (rollout === null) throw refusal('a worker refused the request, so there is no rollout to decide about');
    refuse(rollout, decision);
    act(rollout, decision);
  };
  const validator = (refuse: Decide) => (decision: DecisionInput) => {
    refuseUnsigned(decision);
    if (beginning.rollout !== null) refuse(beginning.rollout, decision);
  };
  setHandler(
    pauseUpdate,
    decidedBy(refusePause, (rollout, { by, reason }) => rollout.decide('pause', by, reason)),
    {
      validator: validator(refusePause),
      description: 'Start no more servers until resumed. Running ones continue.',
    },
  );
  const resume: Decide = (rollout, decision) => resumeRollout(rollout, decision, beginning.onResumed);
  setHandler(resumeUpdate, decidedBy(refuseResume, resume), {
    validator: validator(refuseResume),
    description: 'Start servers again. With serverId: release that held server.',
  });
  setHandler(
    abortUpdate,
    decidedBy(refuseWhenOver, (rollout, { by, reason }) => rollout.decide('abort', by, reason)),
    {
      validator: validator(refuseWhenOver),
      description: 'Start no more servers. Running ones finish.',
    },
  );
}

/** Temporal keeps signals until their handler is set. */
export const handleHolds = (rollout: RolloutState): void =>
  setHandler(holdSignal, (hold) => holdTarget(rollout, hold), {
    description: 'Hold a server because of an event, unless it has started.',
  });

type Decide = (rollout: RolloutState, decision: DecisionInput) => void;

async function checkedRollout(beginning: Beginning): Promise<RolloutState | null> {
  await condition(() => beginning.rollout !== null || beginning.isRefused);
  return beginning.rollout;
}

function resumeRollout(rollout: RolloutState, { by, reason, serverId }: DecisionInput, onResumed: () => void): void {
  const held = heldTarget(rollout, serverId);
  if (held !== null) {
    held.heldByEvent = null;
    rollout.decide('release', by, `server ${serverId}: ${reason}`);
    if (!isPausedForHeld(rollout)) return;
  }
  onResumed();
  rollout.decide('resume', by, reason);
}

function refusePause(rollout: RolloutState): void {
  refuseWhenOver(rollout);
  // A pause by a person outlasts a freeze or an inconclusive gate.
  if (rollout.result.phase === 'paused' && rollout.thaw === null && !mayHeal(rollout))
    throw refusal('the rollout is already paused');
}

function refuseUnsigned(decision: Partial<DecisionInput> | undefined): void {
  const isFilled = (text: unknown) => typeof text === 'string' && text.trim() !== '';
  if (!isFilled(decision?.by) || !isFilled(decision?.reason))
    throw refusal('give your name and a reason: { by, reason }');
}

function refuseWhenOver({ result: { phase } }: RolloutState): void {
  if (phase === 'stopping' || phase === 'done') throw refusal('the rollout starts no more servers');
}

function refuseResume(rollout: RolloutState, { serverId }: DecisionInput): void {
  refuseWhenOver(rollout);
  if (serverId === undefined && rollout.result.phase !== 'paused') throw refusal('the rollout is not paused');
  if (serverId === undefined && rollout.thaw !== null)
    throw refusal('the rollout waits for the end of a freeze, and then resumes by itself: thaw it, or wait');
  if (serverId !== undefined && heldTarget(rollout, serverId) === null) throw refusal(`server ${serverId} is not held`);
}

function heldTarget({ result: { targets } }: RolloutState, serverId: string | undefined): TargetResult | null {
  return targets.find((it) => it.serverId === serverId && it.heldByEvent !== null && isPending(it)) ?? null;
}

/** True if the rollout paused for held servers, and its wave has none left. */
function isPausedForHeld({ result: { phase, targets, decisions } }: RolloutState): boolean {
  const pause = lastPause(decisions);
  const isForHeld = decisions.some(({ action, by }) => action === 'hold' && by === pause?.by);
  const isHeld = openOfWave(targets).some((it) => it.heldByEvent !== null && isPending(it));
  return phase === 'paused' && isForHeld && !isHeld;
}

/** Ignores malformed signals, since the UI can send any, and an event that has held a server before. */
function holdTarget(rollout: RolloutState, hold: Partial<ServerHold> | null | undefined): void {
  const { serverId, event, reason } = hold ?? {};
  if (typeof event !== 'string' || typeof reason !== 'string') return;
  const service = rollout.result.service ?? rollout.input.service;
  if (service !== undefined && !concernsService(hold?.services, { service, formerly: [] })) return;
  const { targets, decisions } = rollout.result;
  const target = targets.find((it) => it.serverId === serverId && isPending(it));
  const by = plainText(event);
  if (target === undefined || decisions.some((it) => it.action === 'hold' && it.by === by)) return;
  target.heldByEvent = by;
  rollout.decide('hold', by, `server ${serverId}: ${reason}`);
}

function refusal(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'Usage', message, nonRetryable: true });
}
