/** What of a run is frozen. */
import type { WorkerInfo } from '../../contract/activities.ts';
import {
  FREEZES_FACT,
  type FreezeAnswer,
  type FreezeQuestion,
  type FreezeScope,
  type FreezeWord,
  type FrozenParts,
  type LetOff,
} from './shapes.ts';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { RunInput } from '../../contract/run.ts';
import { targetsOf } from '../../contract/target.ts';
import { TIMING } from '../../contract/timing.ts';
import { frozenText } from './text.ts';
import type { Fact } from '../../activities/fact.ts';
import { triggerFailure } from '../../activities/failures.ts';
import { couldNotAsk, type Permit } from '../../activities/post-checks.ts';
import type { Judge } from './worker.ts';
import type { Policy } from '../../config/policy.ts';

interface FreezeDeps {
  judge: Judge;
  policy: () => Promise<Policy>;
  workerInfo: Pick<WorkerInfo, 'epoch'>;
}

export const createFreezes = ({ judge, policy, workerInfo }: FreezeDeps) => ({
  /** What of this is frozen; null if nothing is. */
  judgeFreezes: async (question: FreezeQuestion): Promise<FreezeAnswer> => ({
    frozen: await frozenParts(question, judge),
    epoch: workerInfo.epoch,
  }),

  /** What this worker says of a freeze that begins. */
  confirmFreeze: async (scope: FreezeScope): Promise<FreezeWord> => (await policy()).wordOn(scope),
});

/** What a run that begins asks. */
const questionOf = (
  { serverId, fleet, keepGoing = false, ...input }: RunInput,
  atMs: number,
  letOff: LetOff[] = [],
): FreezeQuestion => ({
  targets: targetsOf(input),
  ...definedFields({ serverId, fleet }),
  backsUp: serverId !== undefined,
  keepGoing,
  letOff,
  atMs,
});

/** @returns null if nothing is. @throws if Temporal does not tell */
async function frozenParts(
  { serverId, fleet, backsUp, keepGoing = false, letOff, atMs, ...input }: FreezeQuestion,
  judge: Judge,
): Promise<FrozenParts | null> {
  // Without keepGoing, a run whose first target is frozen does not go on.
  const targets = targetsOf(input).slice(0, keepGoing ? undefined : 1);
  const backups = serverId === undefined || !backsUp ? [] : [{ serverId, fleet }];
  const planned = targets.map((target) => ({ target, serverId, fleet }));
  const frozenAt = await judge.look({ operations: [...backups, ...planned], letOff }, TIMING.lookup.regularMs);
  const backup = backups.flatMap((it) => frozenAt(it, atMs));
  const deployments = planned
    .map((it) => ({ target: it.target, by: frozenAt(it, atMs) }))
    .filter(({ by }) => by.length > 0);
  return backup.length + deployments.length === 0 ? null : { backup, deployments };
}

/** What of a run that begins is frozen, and what it or a rollout is let off. Fails if Temporal does not tell. */
export const freezesFact: Fact<NonNullable<(typeof FREEZES_FACT)['type']>> = {
  ...FREEZES_FACT,
  async ask({ request, begins, atMs }, { judge }) {
    const isRollout = request.type === ROLLOUT_TYPE;
    if (!begins && !isRollout) return undefined;
    const input = request.input as RunInput;
    const names = input.override?.freezes;
    const override = names === undefined ? undefined : await judge.override(names, TIMING.lookup.regularMs);
    const isRefused = override !== undefined && 'error' in override;
    const frozen = isRollout || isRefused ? null : await frozenParts(questionOf(input, atMs, override?.letOff), judge);
    return frozen === null && override === undefined
      ? undefined
      : definedFields({ frozen: frozen ?? undefined, override });
  },
};

/** Judged by Temporal's clock, for the first and the last moment at which the request may leave. */
export const freezePermit: Permit = async (input, { judge }) => {
  const frozenAt = await judge
    .look({ operations: [input], letOff: input.letOff }, TIMING.post.permitMs)
    .catch(couldNotAsk);
  return (atMs) => {
    const by = frozenAt(input, atMs);
    return by.length === 0 ? null : triggerFailure('Frozen', `not sent: ${frozenText(by)}`);
  };
};
