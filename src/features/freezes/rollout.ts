/**
 * A freeze keeps the servers of a rollout from starting: the rollout stops, or pauses and later resumes by itself. No server
 * counts as failed because of this.
 */
import { factOf } from '../../contract/facts.ts';
import { targetsInput } from '../../contract/target.ts';
import type { WaitingForThaw } from '../../contract/waiting.ts';
import { judgeFreezes } from '../../workflows/activity-proxies.ts';
import type { RolloutHook, RolloutState, Stop } from '../rollouts/hooks.ts';
import type { TargetResult } from '../rollouts/shapes.ts';
import { applyOverride, awaitThaw, letOffBy, listenForThaws, tooManyThaws, unlessOver } from './hold.ts';
import { heldPart } from './rules.ts';
import { FREEZES_FACT, type FrozenBy } from './shapes.ts';
import { frozenText, tooLongText } from './text.ts';

export function frozenServers(rollout: RolloutState): RolloutHook {
  const { input, plan, facts, result } = rollout;
  const thaws = listenForThaws();
  const override = factOf(facts, FREEZES_FACT)?.override;
  const letOff = letOffBy(override);
  let waiting: WaitingForThaw | null = null;

  async function frozenNow({ serverId, deployments }: TargetResult) {
    const targets = deployments.filter(({ outcome }) => outcome === null).map(({ target }) => target);
    const keepGoing = input.options?.keepGoing ?? false;
    const planned = { ...targetsInput(targets), serverId, fleet: input.fleet, backsUp: true, keepGoing };
    const { frozen, epoch } = await judgeFreezes({ ...planned, letOff, atMs: Date.now() });
    return { by: heldPart(frozen, { serverId, targets }, keepGoing)?.by ?? [], epoch };
  }

  /** A person may have decided while a worker looked. */
  function isNext(target: TargetResult): boolean {
    const step = rollout.next();
    return step.kind === 'begin' && step.target === target;
  }

  async function pauseUntilThaw(target: TargetResult, first: FrozenBy[]): Promise<void> {
    const freezeWaitMs = input.options?.freezeWaitMs ?? plan.freezeWaitMs;
    const tooMany = tooManyThaws(thaws);
    if (tooMany !== null) return rollout.stop(authorOf(first), frozenStop(tooMany));
    rollout.decide('pause', authorOf(first), reasonOf(target, first));
    const pause = rollout.lastPause();
    const wait = {
      look: async () => (await frozenNow(target)).by,
      freezeWaitMs,
      isOver: () => rollout.isOver() || result.phase !== 'paused' || pause !== rollout.lastPause(),
      onLook(shown: WaitingForThaw) {
        waiting = shown;
        rollout.refresh();
      },
    };
    const end = await awaitThaw({ thaws, result }, wait, first);
    waiting = null;
    if (end.kind === 'free') rollout.decide('resume', authorOf(first), 'nothing is frozen any more');
    else if (end.kind === 'outlasts')
      rollout.stop(authorOf(end.by), frozenStop(`${reasonOf(target, end.by)}; ${tooLongText(freezeWaitMs)}`));
    rollout.refresh();
  }

  return {
    refuse: () => applyOverride(input, result, override),
    async mayStart(target) {
      const answer = await unlessOver(frozenNow(target), rollout.isOver);
      if (answer === null || rollout.stopIfRestored(answer.epoch)) return false;
      const { by } = answer;
      if (by.length === 0) return isNext(target) && !rollout.isOver();
      if (!isNext(target)) return false;
      const ifFrozen = input.options?.ifFrozen ?? plan.ifFrozen;
      if (ifFrozen === 'fail') rollout.stop(authorOf(by), frozenStop(reasonOf(target, by)));
      else await pauseUntilThaw(target, by);
      return false;
    },
    // A freeze that it overrides may end meanwhile, and another one may begin under the same name.
    carries: () => (input.override === undefined ? {} : { letOff }),
    /** Its run may have met a freeze that began later. */
    serverEnded({ serverId, error }) {
      if (error?.type === 'Frozen' && result.phase !== 'stopping')
        rollout.stop('freeze', frozenStop(`server ${serverId}: ${error.message}`));
    },
    waiting: () => waiting,
    mayHeal: () => waiting !== null,
    whyNotResumed: () =>
      waiting === null
        ? null
        : 'the rollout waits for the end of a freeze, and then resumes by itself: thaw it, or wait',
  };
}

const reasonOf = ({ serverId }: TargetResult, by: readonly FrozenBy[]): string =>
  `server ${serverId}: ${frozenText(by)}`;

const frozenStop = (reason: string): Stop => ({ outcome: 'not_started', type: 'Frozen', reason });

/** Returns a name such as `freeze:christmas`. The names of ad-hoc freezes already have that form. */
function authorOf([first]: readonly FrozenBy[]): string {
  const { kind = 'freeze', name = '' } = first ?? {};
  return name.startsWith(`${kind}:`) ? name : `${kind}:${name}`;
}
