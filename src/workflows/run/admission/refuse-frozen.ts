/** A run does not begin if its first deployment could not: its backup would be of no use. */
import type { FrozenParts } from '../../../contract/freeze.ts';
import { frozenText } from '../../../contract/wording/freeze-text.ts';
import { heldPart } from '../../../rules/policy/frozen-run.ts';
import { conclude, type Conclusion } from '../../common/conclusion.ts';
import type { RunState } from '../state/run-state.ts';
import { waitsForThaw } from './wait-for-thaw.ts';

/** @param frozen what the worker said when the run began. @returns null if the run may start, or waits */
export function refuseFrozen(run: RunState, frozen: FrozenParts | undefined): Conclusion | null {
  if (run.type === 'watchDeployment' || waitsForThaw(run)) return null;
  const held = heldPart(frozen, { serverId: run.input.serverId, targets: run.targets }, run.plan.keepGoing);
  return held === null ? null : conclude('not_started', 'Frozen', `${held.what}: ${frozenText(held.by)}`);
}
