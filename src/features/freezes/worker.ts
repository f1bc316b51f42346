/** Judges what is frozen, by the worker's belay.yaml and the ad-hoc freezes at Temporal. */
import {
  type AdHocFreeze,
  type FrozenBy,
  type LetOff,
  type OverrideAnswer,
  type RunningFreeze,
  type BlockedAction,
  FREEZES_FACT,
  type FreezeAnswer,
  type FreezeQuestion,
  type FreezeScope,
  type FreezeConfirmation,
  type FrozenParts,
} from './shapes.ts';
import { isFreezeId } from '../../contract/ids.ts';
import type { CurrentPolicy } from '../../config/live-policy.ts';
import { actionOf, unknownEnd } from './worker-rules.ts';
import { plainText } from '../../contract/safe-text.ts';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { RunInput } from '../../contract/run.ts';
import type { RolloutInput } from '../rollouts/shapes.ts';
import { deploymentsOf, type PlannedOperation } from '../../contract/target.ts';
import { TIMING } from '../../contract/timing.ts';
import { frozenText, utcText } from './text.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import type { Fact } from '../../activities/fact.ts';
import { triggerFailure } from '../../activities/failures.ts';
import { couldNotAsk, type Permit } from '../../activities/post-checks.ts';

/** @throws if Temporal does not answer in time */
export type FindFreezes = (workflowIds: readonly string[], withinMs: number) => Promise<RunningFreeze[]>;

/** Returns what holds an operation back at an instant. Empty if it may go. */
type FrozenAt = (operation: PlannedOperation, atMs: number) => FrozenBy[];

interface Look {
  operations: readonly PlannedOperation[];
  /** Freezes and windows that do not hold these operations back. */
  letOff?: readonly LetOff[] | undefined;
}

export type FreezeJudge = ReturnType<typeof createFreezeJudge>;

export function createFreezeJudge(policy: CurrentPolicy, findFreezes: FindFreezes) {
  return {
    /** @throws if Temporal does not answer in time */
    async look({ operations, letOff = [] }: Look, withinMs: number): Promise<FrozenAt> {
      const { frozenBy, adHocIds } = await policy();
      const found = await findFreezes([...new Set(operations.flatMap(adHocIds))], withinMs);
      const running = found.filter((it) => !isLetOff(it, letOff));
      const names = new Set(letOff.filter(({ since }) => since === undefined).map(({ name }) => name));
      return (operation, atMs) => {
        const ids = adHocIds(operation);
        const fitting = running.filter(({ workflowId }) => ids.includes(workflowId));
        return [...adHocFrozenBy(fitting, actionOf(operation), atMs), ...frozenBy(operation, atMs, names)];
      };
    },
    /**
     * Resolves the names of an override, or refuses it.
     *
     * @param isRetry leaves out names that mean nothing any more
     * @throws if Temporal does not answer in time
     */
    async override(names: readonly string[], atMs: number, withinMs: number, isRetry = false): Promise<OverrideAnswer> {
      const { overridable } = await policy();
      const adHoc = names.filter((name) => overridable(name) === null && isFreezeId(name));
      const running = await findFreezes(adHoc, withinMs);
      const letOff: LetOff[] = [];
      for (const name of names) {
        const known = overridable(name);
        const found = running.find(({ workflowId }) => workflowId === name);
        const isUnknown = known === null && found === undefined;
        if (isUnknown && isRetry) continue;
        if (isUnknown) return { error: { type: 'Usage', message: unknownName(name) } };
        const isNever = known === null ? found?.freeze?.override !== 'reason' : known.override === 'never';
        if (isNever)
          return { error: { type: 'Refused', message: neverText(name, known?.endText(atMs), found?.freeze ?? null) } };
        const since = found?.freeze?.since;
        letOff.push(since === undefined ? { kind: known?.kind ?? 'freeze', name } : { kind: 'freeze', name, since });
      }
      return { letOff };
    },
  };
}

/** A freeze that was set later under the same id is another freeze. */
const isLetOff = ({ workflowId, freeze }: RunningFreeze, letOff: readonly LetOff[]): boolean =>
  freeze !== null &&
  freeze.override !== 'never' &&
  letOff.some(({ name, since }) => name === workflowId && since === freeze.since);

/** @param running the freezes that apply to the operation */
export function adHocFrozenBy(running: readonly RunningFreeze[], action: BlockedAction, atMs: number): FrozenBy[] {
  return running.flatMap(({ workflowId: name, freeze }): FrozenBy[] => {
    if (freeze === null)
      return [{ kind: 'freeze', name, reason: 'its memo cannot be read', ...unknownEnd, override: 'never' }];
    const { until, reason, by, blocks, override } = freeze;
    const never = override === 'never' ? { override } : {};
    const isActive = atMs < Date.parse(until) && blocks.includes(action);
    return isActive ? [{ kind: 'freeze', name, reason, until, untilText: utcText(until), by, ...never }] : [];
  });
}

/** @param endText of a freeze in belay.yaml. Undefined for an ad-hoc freeze */
function neverText(name: string, endText: string | null | undefined, freeze: AdHocFreeze | null): string {
  const shown = plainText(name);
  const refusal = `no run may be let off "${shown}"`;
  if (endText !== undefined) {
    const ends = endText === null ? '' : `, which ends at ${endText}`;
    return `${refusal}${ends}, because freezes.${shown}.override in the worker's belay.yaml is never: wait for its end`;
  }
  if (freeze === null) return `${refusal}, because its memo cannot be read: thaw it`;
  return `${refusal}, which ends at ${utcText(freeze.until)}, because it was set with --no-override: wait for its end, or thaw it`;
}

const unknownName = (name: string): string =>
  `override: there is no freeze or window "${plainText(name)}": \`belay freezes\` lists them`;

type Deps = Pick<ActivityDeps, 'freezes' | 'policy' | 'workerInfo'>;

export const createFreezeActivities = ({ freezes, policy, workerInfo }: Deps) => ({
  /** Finds which parts are frozen. `frozen` is null if none is. */
  judgeFreezes: async (question: FreezeQuestion): Promise<FreezeAnswer> => ({
    frozen: await frozenParts(question, freezes),
    epoch: workerInfo.epoch,
  }),

  confirmFreeze: async (scope: FreezeScope): Promise<FreezeConfirmation> => (await policy()).confirm(scope),
});

/** @returns null if nothing is frozen. @throws if Temporal does not answer */
async function frozenParts(question: FreezeQuestion, judge: FreezeJudge): Promise<FrozenParts | null> {
  const { serverId, fleet, backsUp, keepGoing = false, letOff, atMs } = question;
  // Without keepGoing, a run whose first target is frozen does not continue.
  const planned = deploymentsOf(question).slice(0, keepGoing ? undefined : 1);
  const backups = serverId === undefined || !backsUp ? [] : [{ serverId, fleet }];
  const frozenAt = await judge.look({ operations: [...backups, ...planned], letOff }, TIMING.lookup.regularMs);
  const backup = backups.flatMap((it) => frozenAt(it, atMs));
  const deployments = planned
    .map((it) => ({ target: it.target, by: frozenAt(it, atMs) }))
    .filter(({ by }) => by.length > 0);
  return backup.length + deployments.length === 0 ? null : { backup, deployments };
}

/**
 * Tells what a starting run has frozen, and what it or a rollout is exempted from. Fails if Temporal does not answer.
 */
export const freezesFact: Fact<NonNullable<(typeof FREEZES_FACT)['type']>> = {
  ...FREEZES_FACT,
  async ask({ request, begins, atMs }, { freezes }) {
    const isRollout = request.type === ROLLOUT_TYPE;
    if (!begins && !isRollout) return undefined;
    const input = request.input as RunInput;
    const { attempt = 1 } = request.input as Partial<RolloutInput>;
    const override = await overrideOf(input, freezes, atMs, isRollout && attempt > 1);
    const isRefused = override !== undefined && 'error' in override;
    const frozen =
      isRollout || isRefused
        ? null
        : await frozenParts({ ...input, backsUp: true, letOff: override?.letOff ?? [], atMs }, freezes);
    return frozen === null && override === undefined
      ? undefined
      : definedFields({ frozen: frozen ?? undefined, override });
  },
};

/** A run of a rollout overrides what its rollout overrides. By now, those freezes may have ended. */
async function overrideOf(
  { override, letOff }: RunInput,
  judge: FreezeJudge,
  atMs: number,
  isRetry: boolean,
): Promise<OverrideAnswer | undefined> {
  if (override === undefined) return undefined;
  const { freezes } = override;
  return letOff === undefined
    ? judge.override(freezes, atMs, TIMING.lookup.regularMs, isRetry)
    : { letOff: letOff.filter(({ name }) => freezes.includes(name)) };
}

/** Judges by Temporal's clock, for the first and the last moment at which the request may leave. */
export const freezePermit: Permit = async (input, { freezes }) => {
  const frozenAt = await freezes
    .look({ operations: [input], letOff: input.letOff }, TIMING.post.permitMs)
    .catch(couldNotAsk);
  return (atMs) => {
    const by = frozenAt(input, atMs);
    return by.length === 0 ? null : triggerFailure('Frozen', `not sent: ${frozenText(by)}`);
  };
};
