/** A run does not begin if its first deployment could not: its backup would be of no use. */
import type { FrozenParts } from '../../contract/freeze.ts';
import { isSameTarget, type Target } from '../../contract/target.ts';
import { frozenText } from '../../contract/wording/frozen-text.ts';
import { targetText } from '../../contract/wording/target-text.ts';
import { conclude, type Conclusion } from '../common/conclusion.ts';
import type { RunState } from './run-state.ts';

/** @param frozen what the worker said when the run began. @returns null if the run may start */
export function refuseFrozen(
  { type, input, targets, plan }: RunState,
  frozen: FrozenParts | undefined,
): Conclusion | null {
  if (frozen === undefined || type === 'watchDeployment') return null;
  const { backup, deployments } = frozen;
  if (backup.length > 0) {
    return conclude('not_started', 'Frozen', `server ${input.serverId} was not backed up: ${frozenText(backup)}`);
  }
  const byOf = (target: Target) => deployments.find((it) => isSameTarget(it.target, target))?.by;
  const [first] = targets;
  const by = first === undefined ? undefined : byOf(first);
  const mayGoOn = plan.keepGoing && targets.some((it) => byOf(it) === undefined);
  if (first === undefined || by === undefined || mayGoOn) return null;
  return conclude('not_started', 'Frozen', `${targetText(first)} was not deployed: ${frozenText(by)}`);
}
