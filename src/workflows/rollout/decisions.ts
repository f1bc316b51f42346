/** Who may decide about a rollout in flight. Each decision stays in its history, with who made it and why. */
import { ApplicationFailure } from '@temporalio/common';
import { defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import { HOLD_SIGNAL, ROLLOUT_UPDATES, type DecisionInput, type Hold, type TargetResult } from '../../contract/rollout.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import type { Rollout } from './rollout-state.ts';
import { isToCome } from '../../contract/results/tally.ts';
import { openOfWave } from '../rules/rollout-step.ts';

const pauseUpdate = defineUpdate<void, [DecisionInput]>(ROLLOUT_UPDATES.pause);
const resumeUpdate = defineUpdate<void, [DecisionInput]>(ROLLOUT_UPDATES.resume);
const abortUpdate = defineUpdate<void, [DecisionInput]>(ROLLOUT_UPDATES.abort);
const holdSignal = defineSignal<[Hold]>(HOLD_SIGNAL);

/** @param onResumed told before it goes on */
export function hearDecisions(rollout: Rollout, onResumed: () => void): void {
  setHandler(pauseUpdate, ({ by, why }) => rollout.decide('pause', by, why), {
    validator: (decision: DecisionInput) => {
      refuseUnsigned(decision);
      refuseWhenOver(rollout);
      if (rollout.result.phase === 'paused') throw refusal('it is paused already');
    },
    description: 'What runs goes on, nothing begins until it is resumed.',
  });
  setHandler(
    resumeUpdate,
    ({ by, why, serverId }) => {
      const held = heldTarget(rollout, serverId);
      if (held !== null) {
        held.heldBy = null;
        rollout.decide('release', by, `server ${serverId}: ${why}`);
        if (!isPausedForHeld(rollout)) return;
      }
      onResumed();
      rollout.decide('resume', by, why);
    },
    {
      validator: (decision: DecisionInput) => {
        refuseUnsigned(decision);
        refuseWhenOver(rollout);
        refuseResume(rollout, decision.serverId);
      },
      description: 'Begins with servers again; with serverId, with that held server.',
    },
  );
  setHandler(abortUpdate, ({ by, why }) => rollout.decide('abort', by, why), {
    validator: (decision: DecisionInput) => {
      refuseUnsigned(decision);
      refuseWhenOver(rollout);
    },
    description: 'What runs may end, nothing begins any more.',
  });
  setHandler(holdSignal, (hold) => holdTarget(rollout, hold), {
    description: 'An event about a server: it does not begin, unless it has.',
  });
}

function refuseUnsigned(decision: Partial<DecisionInput> | undefined): void {
  const isSaid = (text: unknown) => typeof text === 'string' && text.trim() !== '';
  if (!isSaid(decision?.by) || !isSaid(decision?.why)) throw refusal('say who decides, and why: { by, why }');
}

function refuseWhenOver({ result: { phase } }: Rollout): void {
  if (phase === 'stopping' || phase === 'done') throw refusal('it begins with no server any more');
}

function refuseResume(rollout: Rollout, serverId: string | undefined): void {
  if (serverId === undefined && rollout.result.phase !== 'paused') throw refusal('it is not paused');
  if (serverId !== undefined && heldTarget(rollout, serverId) === null) throw refusal(`server ${serverId} is not held`);
}

function heldTarget({ result: { targets } }: Rollout, serverId: string | undefined): TargetResult | null {
  return targets.find((it) => it.serverId === serverId && it.heldBy !== null && isToCome(it)) ?? null;
}

/** Whether the pause was for a held server, and there is no such one in its wave any more. */
function isPausedForHeld({ result: { phase, targets, decisions } }: Rollout): boolean {
  const pause = decisions.findLast(({ what }) => what === 'pause');
  const isForHeld = decisions.some(({ what, by }) => what === 'hold' && by === pause?.by);
  const isHeld = openOfWave(targets).some((it) => it.heldBy !== null && isToCome(it));
  return phase === 'paused' && isForHeld && !isHeld;
}

/** The UI can signal anything; an event may be heard of twice, and one that was decided upon is not heard again. */
function holdTarget(rollout: Rollout, hold: Partial<Hold> | null | undefined): void {
  const { serverId, event, why } = hold ?? {};
  if (typeof event !== 'string' || typeof why !== 'string') return;
  const { targets, decisions } = rollout.result;
  const target = targets.find((it) => it.serverId === serverId && isToCome(it));
  const by = plainText(event);
  if (target === undefined || decisions.some((it) => it.what === 'hold' && it.by === by)) return;
  target.heldBy = by;
  rollout.decide('hold', by, `server ${serverId}: ${why}`);
}

function refusal(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'Usage', message, nonRetryable: true });
}
