/** A run that waits for freezes to end. It holds no lock and no operation of its own meanwhile. */
import type { Deadline } from '../../../contract/operation.ts';
import type { FrozenParts } from '../../../contract/freeze.ts';
import { definedFields } from '../../../contract/plain-object.ts';
import { targetsInput, type Target } from '../../../contract/target.ts';
import { frozenText, tooLongText } from '../../../contract/wording/freeze-text.ts';
import { goodUntilMs } from '../../../rules/policy/approval.ts';
import { deadlineOf } from '../../../rules/deadline.ts';
import { heldPart, type HeldPart } from '../../../rules/policy/frozen-run.ts';
import { describeWorker, judgeFreezes } from '../../common/activity-proxies.ts';
import { awaitThaw, tooManyThaws } from '../../common/await-thaw.ts';
import { conclude, type Conclusion } from '../../common/conclusion.ts';
import { awaitAdmission } from './await-admission.ts';
import type { RunState } from '../state/run-state.ts';

/** What comes next in a run. */
export interface NextPart {
  backsUp: boolean;
  /** In their order: the first one that is frozen is waited for. */
  targets: readonly Target[];
}

export const waitsForThaw = ({ type, plan }: RunState): boolean =>
  plan.ifFrozen === 'wait' && type !== 'watchDeployment';

export const wasFrozen = ({ outcome, error }: Conclusion): boolean =>
  outcome === 'not_started' && error?.type === 'Frozen';

/**
 * Waits until the next part may begin.
 * @param frozen what was frozen a moment ago; null if it has to be asked
 * @returns null once it may, else why the run ends
 */
export async function waitForThaw(
  run: RunState,
  next: NextPart,
  frozen: FrozenParts | null,
): Promise<Conclusion | null> {
  const { thaws, result } = run;
  const held = heldIn(run, next, frozen ?? (await askNow(run, next)));
  const tooMany = tooManyThaws(thaws);
  if (tooMany !== null) return concludeFrozen(held, tooMany);
  const phase = result.phase ?? 'checking';
  run.setPhase('frozen');
  const conclusion = await waitWhile(run, next, held);
  run.setWaiting(null);
  run.setPhase(phase);
  return conclusion ?? (await takePlace(run));
}

async function waitWhile(run: RunState, next: NextPart, first: HeldPart): Promise<Conclusion | null> {
  const { plan, cancellation } = run;
  const freezeWaitMs = plan.freezeWaitMs ?? 0;
  let held = first;
  const end = await awaitThaw(
    run,
    {
      look: async () => {
        held = heldIn(run, next, await askNow(run, next));
        return held.by;
      },
      freezeWaitMs,
      deadlineMs: deadlineMs(run),
      isOver: () => cancellation.requested,
      onLook: (waiting) => run.setWaiting(waiting),
    },
    held.by,
  );
  if (end.kind === 'free') return null;
  if (end.kind === 'over') return conclude('not_started', 'Cancelled', `${held.what}: cancelled while it was frozen`);
  return concludeFrozen({ ...held, by: end.by }, tooLongText(freezeWaitMs));
}

function concludeFrozen({ what, by }: HeldPart, why: string): Conclusion {
  return conclude('not_started', 'Frozen', by.length === 0 ? `${what}: ${why}` : `${what}: ${frozenText(by)}; ${why}`);
}

/** A backup that is made after the wait begins its age then. */
export const deadlineBefore = ({ limits }: RunState): Deadline | null => deadlineOf({ ...limits, backupBeganMs: null });

function deadlineMs(run: RunState): number {
  const deadline = deadlineBefore(run);
  return Math.min(deadline === null ? Infinity : Date.parse(deadline.at), goodUntilMs(run.approved));
}

async function askNow(
  { input: { serverId, fleet }, letOff }: RunState,
  { backsUp, targets }: NextPart,
): Promise<FrozenParts | null> {
  const of = { ...targetsInput(targets.slice(0, 1)), ...definedFields({ serverId, fleet }) };
  return (await judgeFreezes({ ...of, backsUp, letOff, atMs: Date.now() })).frozen;
}

function heldIn({ input }: RunState, { targets }: NextPart, frozen: FrozenParts | null): HeldPart {
  const held = heldPart(frozen, { serverId: input.serverId, targets }, false);
  return held ?? { what: 'nothing was started', by: [] };
}

/** Many that waited for the same freeze go on within a minute. */
export async function takePlace(run: RunState): Promise<Conclusion | null> {
  const { admitted } = await describeWorker({ begins: true });
  return admitted === false ? awaitAdmission(run, Date.now()) : null;
}
