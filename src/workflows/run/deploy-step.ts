/** The deployments of a run, one after another. Without `keepGoing`, the first that is not completed stops the run. */
import { lockIdOf } from '../../contract/ids.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { emptyDeployment } from '../../contract/results.ts';
import type { DeploymentResult } from '../../contract/run.ts';
import { type Target, targetText } from '../../contract/target.ts';
import { deadlineOf, lateness } from '../../rules/deadline.ts';
import { conclude, type Conclusion, type Ended } from '../conclusion.ts';
import { renewBackup } from './backup-step.ts';
import type { RunPart } from './hooks.ts';
import { attempt, notStarted, operate, record, sharedInput } from './part.ts';
import type { RunState } from './run-state.ts';

export async function deployAll(run: RunState): Promise<Conclusion[]> {
  const conclusions: Conclusion[] = [];
  for (const target of run.targets) {
    const part: RunPart = { kind: 'deployment', target };
    const conclusion = await attempt(
      run,
      part,
      () => deploy(run, part, target),
      () => renewBackup(run),
    );
    conclusions.push(conclusion);
    const { backup } = run.result;
    // Nothing is deployed without a completed backup.
    const isBackedUp = backup === null || backup.outcome === 'completed';
    const mayGoOn = isBackedUp && (conclusion.outcome === 'completed' || run.plan.keepGoing);
    if (run.cancellation.requested || !mayGoOn) break;
  }
  return conclusions;
}

async function deploy(run: RunState, part: RunPart, target: Target): Promise<Conclusion> {
  const { admissionReads, input, limits, plan } = run;
  const deadline = deadlineOf(limits);
  const late = lateness(deadline, Date.now());
  if (late !== null) {
    const message = `${targetText(target)} was not deployed: ${late}`;
    return notStarted(run, part, conclude('not_started', 'TooLate', message));
  }
  for (const hold of run.holds) {
    const refusal = hold.refusePart?.(part) ?? null;
    if (refusal !== null) return notStarted(run, part, refusal);
  }
  const lockId = lockIdOf(target);
  const admissionRead = admissionReads.get(lockId) ?? 'failed';
  const own = { target, admissionRead, ...definedFields({ serverId: input.serverId }), ...plan.deploy, deadline };
  const wanted = { ...sharedInput(run, part, lockId), ...own };
  run.setPhase('deploy');
  const operated = await operate<DeploymentResult>(run, part, wanted, emptyDeployment(target));
  if (operated.kind === 'not_started') return notStarted(run, part, operated.conclusion);
  if (operated.kind !== 'ended') throw new Error('a deployment is neither shared nor left');
  let ended: Ended<DeploymentResult> = operated.result;
  for (const hold of run.holds) hold.deployed?.(ended);
  for (const check of run.checks) ended = { ...ended, ...check.judge(ended) };
  record(run, target, ended);
  return ended;
}
