/**
 * Keeps the servers of a rollout from being started in a freeze, or after a restore. In a freeze, the rollout pauses and
 * resumes by itself, or stops. No server counts as a failure because of it.
 */
import type { FrozenBy } from '../freezes/shapes.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { TargetResult } from './shapes.ts';
import { targetsInput } from '../../contract/target.ts';
import { frozenText, tooLongText } from '../freezes/text.ts';
import { heldPart } from '../freezes/rules.ts';
import { lastPause, RESTORED } from './rules.ts';
import { judgeFreezes } from '../../workflows/activity-proxies.ts';
import { awaitThaw, tooManyThaws } from '../freezes/thaws.ts';
import { restoredSince } from '../../workflows/check-worker.ts';
import type { BeforeServer } from './hooks.ts';
import type { RolloutState, Stop } from './state.ts';

/** Waits for freezes if the rollout is to. @returns whether the server may be started: if not, ask for the next step */
async function mayStart(rollout: RolloutState, target: TargetResult, isCancelled: () => boolean): Promise<boolean> {
  const ifFrozen = freezeRule(rollout);
  if (ifFrozen === null) return true;
  const { by, epoch } = await frozenNow(rollout, target);
  if (stopIfRestored(rollout, epoch)) return false;
  if (by.length > 0) {
    if (ifFrozen === 'fail') rollout.stop(authorOf(by), stopped(reasonOf(target, by)));
    else await pauseUntilThaw(rollout, target, by, isCancelled);
    return false;
  }
  // A person may have decided meanwhile.
  const step = rollout.next();
  return step.kind === 'begin' && step.target === target && !isCancelled();
}

/** Call it after each server: its run may have met a freeze that began later. */
function stopIfFrozen(rollout: RolloutState, { serverId, error }: TargetResult): void {
  const { phase } = rollout.result;
  if (freezeRule(rollout) === null || error?.type !== 'Frozen' || phase === 'stopping') return;
  rollout.stop('freeze', stopped(`server ${serverId}: ${error.message}`));
}

/** Null in a rollout from before it existed. */
function freezeRule({ input: { options }, plan }: RolloutState): 'fail' | 'wait' | null {
  return plan.ifFrozen === undefined ? null : (options?.ifFrozen ?? plan.ifFrozen);
}

async function frozenNow({ input, letOff }: RolloutState, { serverId, deployments }: TargetResult) {
  const targets = deployments.filter(({ outcome }) => outcome === null).map(({ target }) => target);
  const keepGoing = input.options?.keepGoing ?? false;
  const of = { ...targetsInput(targets), serverId, fleet: input.fleet };
  const question = { ...of, backsUp: true, keepGoing, letOff, atMs: Date.now() };
  const { frozen, epoch } = await judgeFreezes(question);
  return { by: heldPart(frozen, { serverId, targets }, keepGoing)?.by ?? [], epoch };
}

/** A restored rollout does not know that it started the server before. @returns whether it was restored */
function stopIfRestored(rollout: RolloutState, epoch: string): boolean {
  const restored = restoredSince(definedFields({ epoch: rollout.epoch ?? undefined }), { epoch });
  if (restored === null) return false;
  if (rollout.result.phase !== 'stopping') rollout.decide('stop', RESTORED, restored.error?.message ?? '');
  return true;
}

const reasonOf = ({ serverId }: TargetResult, by: readonly FrozenBy[]): string =>
  `server ${serverId}: ${frozenText(by)}`;

const stopped = (reason: string): Stop => ({ outcome: 'not_started', type: 'Frozen', reason });

/** `freeze:christmas`: an ad-hoc freeze has such a name already. */
function authorOf([first]: readonly FrozenBy[]): string {
  const { kind = 'freeze', name = '' } = first ?? {};
  return name.startsWith(`${kind}:`) ? name : `${kind}:${name}`;
}

async function pauseUntilThaw(
  rollout: RolloutState,
  target: TargetResult,
  first: FrozenBy[],
  isCancelled: () => boolean,
): Promise<void> {
  const { thaws, result, plan, input } = rollout;
  const freezeWaitMs = input.options?.freezeWaitMs ?? plan.freezeWaitMs ?? 0;
  const tooMany = tooManyThaws(thaws);
  if (tooMany !== null) return rollout.stop(authorOf(first), stopped(tooMany));
  rollout.decide('pause', authorOf(first), reasonOf(target, first));
  const pause = result.decisions.at(-1);
  const end = await awaitThaw(
    rollout,
    {
      look: async () => (await frozenNow(rollout, target)).by,
      freezeWaitMs,
      isOver: () => isCancelled() || result.phase !== 'paused' || pause !== lastPause(result.decisions),
      onLook: (waiting) => {
        rollout.thaw = waiting;
        rollout.refresh();
      },
    },
    first,
  );
  rollout.thaw = null;
  if (end.kind === 'free') rollout.decide('resume', authorOf(first), 'nothing is frozen any more');
  else if (end.kind === 'outlasts')
    rollout.stop(authorOf(end.by), stopped(`${reasonOf(target, end.by)}; ${tooLongText(freezeWaitMs)}`));
  rollout.refresh();
}

export const frozenServers: BeforeServer = { mayBegin: mayStart, ended: stopIfFrozen };
