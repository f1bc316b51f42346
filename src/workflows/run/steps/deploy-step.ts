/** The deployments of a run, one after another. Without `keepGoing`, the first that is not completed stops the run. */
import type { Approved } from '../../../contract/approval.ts';
import { definedFields } from '../../../contract/plain-object.ts';
import type { Target } from '../../../contract/target.ts';
import { targetText } from '../../../contract/wording/target-text.ts';
import { lockIdOf } from '../../../contract/ids/workflow-ids.ts';
import { startDeployment } from './child-operations.ts';
import { emptyDeployment } from '../../../contract/results/empty-results.ts';
import { conclude, type Conclusion } from '../../common/conclusion.ts';
import { isForOther, refusedForService, sharedInput } from '../state/operation-input.ts';
import type { LockAttempt } from '../../lock/acquire.ts';
import { deadlineOf, lateness } from '../../../rules/deadline.ts';
import { expiry } from '../../../rules/policy/approval.ts';
import { approvedForTarget } from '../../../rules/policy/planned-parts.ts';
import type { RunState } from '../state/run-state.ts';
import { aimOf, unlessUnchecked } from './site-aims.ts';
import { renewBackup } from './backup-step.ts';
import { waitForThaw, waitsForThaw, wasFrozen } from '../admission/wait-for-thaw.ts';

type ApprovedFor = ReturnType<typeof approvedForTarget>;

export async function deployAll(run: RunState): Promise<Conclusion[]> {
  const conclusions: Conclusion[] = [];
  const approvedFor = approvedForTarget(run.approved);
  for (const [index, target] of run.targets.entries()) {
    const { conclusion, isLast } = await deployOnceThawed(run, target, index, approvedFor);
    conclusions.push(conclusion);
    const mayGoOn = conclusion.outcome === 'completed' || run.plan.keepGoing;
    if (run.cancellation.requested || isLast || !mayGoOn) break;
  }
  return conclusions;
}

/** After a freeze that is waited for, the deployment begins again, on a backup that is recent. */
async function deployOnceThawed(
  run: RunState,
  target: Target,
  index: number,
  approvedFor: ApprovedFor,
): Promise<{ conclusion: Conclusion; isLast: boolean }> {
  for (;;) {
    const conclusion = await deploy(run, target, index, approvedFor(target));
    if (!wasFrozen(conclusion) || !waitsForThaw(run)) return { conclusion, isLast: false };
    run.result.deployments[index] = emptyDeployment(target);
    const end = await waitForThaw(run, { backsUp: false, targets: [target] }, null);
    if (end !== null) return { conclusion: notStarted(run, index, end), isLast: false };
    const backup = await renewBackup(run);
    // Nothing is deployed without a completed backup.
    if (backup.outcome !== 'completed') return { conclusion: notStarted(run, index, backup), isLast: true };
  }
}

async function deploy(run: RunState, target: Target, index: number, approved: Approved[]): Promise<Conclusion> {
  const deadline = deadlineOf(run.limits);
  const late = lateness(deadline, Date.now());
  if (late !== null) {
    return notStarted(
      run,
      index,
      conclude('not_started', 'TooLate', `${targetText(target)} was not deployed: ${late}`),
    );
  }
  const expired = expiry(run.approved, Date.now());
  if (expired !== null) {
    const message = `${targetText(target)} was not deployed: ${expired}`;
    return notStarted(run, index, conclude('not_started', 'ApprovalExpired', message));
  }
  const lockId = lockIdOf(target);
  const check = aimOf(run, target);
  const facts = { ...factsOf(run, target, approved), ...definedFields({ check }) };
  const input = { ...sharedInput(run, lockId), ...facts, ...run.plan.deploy, deadline };
  run.setPhase('deploy');
  const attempt = await run.acquireLock({
    lockId,
    operation: 'deployment',
    start: (waiters) => startDeployment(run, lockId, { ...input, waiters }),
    ifBusy: run.plan.ifBusy,
    busyTimeoutMs: run.plan.busyTimeoutMs,
    accept: () => false,
    isForOther: (held) => isForOther(run, held),
    onQueued(waiting) {
      if (run.result.phase !== 'queued') run.setPhase('queued');
      run.setWaiting(waiting);
    },
  });
  if (attempt.kind !== 'lock') {
    return notStarted(run, index, withoutLock(attempt, target, lockId));
  }
  if (run.result.phase === 'queued') run.setPhase('deploy');
  const ended = await attempt.child.ended();
  run.setOperation(null);
  const checked = { ...ended, ...unlessUnchecked(ended, check) };
  run.result.deployments[index] = checked;
  return checked;
}

function withoutLock(
  attempt: Exclude<LockAttempt<unknown>, { kind: 'lock' }>,
  target: Target,
  lockId: string,
): Conclusion {
  if (attempt.kind === 'other_service') return refusedForService(attempt.service, lockId);
  if (attempt.kind === 'cancelled') {
    return conclude('not_started', 'Cancelled', `cancelled before ${targetText(target)} was deployed`);
  }
  const message = `${targetText(target)} was not deployed: another run holds the lock ${lockId}`;
  return conclude('not_started', 'Busy', message);
}

function notStarted({ targets, result }: RunState, index: number, conclusion: Conclusion): Conclusion {
  const target = targets[index];
  if (target === undefined) throw new Error('there is no such target');
  result.deployments[index] = { ...emptyDeployment(target), outcome: 'not_started', error: conclusion.error };
  return conclusion;
}

function factsOf({ input: { serverId }, admissionReads }: RunState, target: Target, approved: Approved[]) {
  const admissionRead = admissionReads.get(lockIdOf(target)) ?? 'failed';
  const known = definedFields({ serverId, approved: approved.length === 0 ? undefined : approved });
  return { target, admissionRead, ...known };
}
