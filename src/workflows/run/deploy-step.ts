/** The deployments of a run, one after another. Without `keepGoing`, the first that is not completed stops the run. */
import { definedFields } from '../../contract/plain-object.ts';
import { type Target, targetText } from '../../contract/target.ts';
import { lockIdOf } from '../../contract/ids.ts';
import { startDeployment } from './child-operations.ts';
import { emptyDeployment } from '../../contract/results.ts';
import { conclude, type Conclusion } from '../conclusion.ts';
import { carried, isForOther, refusedForService, sharedInput } from './operation-input.ts';
import type { LockAttempt } from '../lock/acquire.ts';
import { deadlineOf, lateness } from '../../rules/deadline.ts';
import type { Part } from './hooks.ts';
import type { RunState } from './run-state.ts';
import { renewBackup } from './backup-step.ts';
import { holdThatReopens, waitFor } from './await-admission.ts';

export async function deployAll(run: RunState): Promise<Conclusion[]> {
  const conclusions: Conclusion[] = [];
  for (const [index, target] of run.targets.entries()) {
    const { conclusion, isLast } = await deployOnceFree(run, target, index);
    conclusions.push(conclusion);
    const mayGoOn = conclusion.outcome === 'completed' || run.plan.keepGoing;
    if (run.cancellation.requested || isLast || !mayGoOn) break;
  }
  return conclusions;
}

/** If something came to hold it before its request left, the deployment begins again after that, on a recent backup. */
async function deployOnceFree(
  run: RunState,
  target: Target,
  index: number,
): Promise<{ conclusion: Conclusion; isLast: boolean }> {
  for (;;) {
    const conclusion = await deploy(run, target, index);
    const hold = holdThatReopens(run, conclusion);
    if (hold === undefined) return { conclusion, isLast: false };
    run.result.deployments[index] = emptyDeployment(target);
    const end = await waitFor(run, hold, { kind: 'deployment', target });
    if (end !== null) return { conclusion: notStarted(run, index, end), isLast: false };
    const backup = await renewBackup(run);
    // Nothing is deployed without a completed backup.
    if (backup.outcome !== 'completed') return { conclusion: notStarted(run, index, backup), isLast: true };
  }
}

async function deploy(run: RunState, target: Target, index: number): Promise<Conclusion> {
  const part: Part = { kind: 'deployment', target };
  const deadline = deadlineOf(run.limits);
  const late = lateness(deadline, Date.now());
  if (late !== null) {
    const message = `${targetText(target)} was not deployed: ${late}`;
    return notStarted(run, index, conclude('not_started', 'TooLate', message));
  }
  for (const hold of run.holds) {
    const refusal = hold.refusePart?.(part) ?? null;
    if (refusal !== null) return notStarted(run, index, refusal);
  }
  const lockId = lockIdOf(target);
  const of = carried(run, part);
  const input = { ...sharedInput(run, lockId), ...factsOf(run, target), ...of, ...run.plan.deploy, deadline };
  run.setPhase('deploy');
  const attempt = await run.acquireLock({
    lockId,
    operation: 'deployment',
    start: (waiters) => startDeployment(run, lockId, { ...input, waiters }),
    ifBusy: run.plan.ifBusy,
    busyTimeoutMs: run.plan.busyTimeoutMs,
    accept: () => false,
    isForOther: (held) => isForOther(run, held),
    ...definedFields({ work: of.work }),
    onQueued(waiting) {
      if (run.result.phase !== 'queued') run.setPhase('queued');
      run.setWaiting(waiting);
    },
  });
  if (attempt.kind !== 'lock') {
    return notStarted(run, index, withoutLock(attempt, target, lockId));
  }
  if (run.result.phase === 'queued') run.setPhase('deploy');
  let ended = await attempt.child.ended();
  run.setOperation(null);
  for (const check of run.checks) ended = { ...ended, ...check.judge(ended) };
  run.result.deployments[index] = ended;
  return ended;
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

function factsOf({ input: { serverId }, admissionReads }: RunState, target: Target) {
  const admissionRead = admissionReads.get(lockIdOf(target)) ?? 'failed';
  return { target, admissionRead, ...definedFields({ serverId }) };
}
