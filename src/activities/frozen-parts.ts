/** What of a run is frozen. */
import type { WorkerInfo, WorkerQuestion } from '../contract/activities.ts';
import type { FreezeQuestion, FrozenParts, LetOff } from '../contract/freeze.ts';
import { ROLLOUT_TYPE } from '../contract/names.ts';
import { definedFields } from '../contract/plain-object.ts';
import type { RunInput } from '../contract/run.ts';
import { targetsOf } from '../contract/target.ts';
import { TIMING } from '../contract/budgets/timing.ts';
import type { Judge } from '../policy/judge.ts';

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
export async function frozenParts(
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

/** What of a run that begins is frozen, and what it or a rollout is let off. @throws if Temporal does not tell */
export async function judgeRequest(
  { begins, request }: WorkerQuestion,
  judge: Judge,
  atMs: number,
): Promise<Pick<WorkerInfo, 'frozen' | 'override'>> {
  const isRollout = request?.type === ROLLOUT_TYPE;
  if (request === undefined || (begins !== true && !isRollout)) return {};
  const input = request.input as RunInput;
  const names = input.override?.freezes;
  const override = names === undefined ? undefined : await judge.override(names, TIMING.lookup.regularMs);
  if (isRollout) return definedFields({ override });
  if (override !== undefined && 'error' in override) return { override };
  const frozen = await frozenParts(questionOf(input, atMs, override?.letOff), judge);
  return definedFields({ frozen: frozen ?? undefined, override });
}
