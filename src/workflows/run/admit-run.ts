/** Checks a run before it makes a backup: its start time, the service, the token, the targets, and what holds it back. */
import { targetText } from '../../contract/target.ts';
import { lockIdOf } from '../../contract/ids.ts';
import { plainText } from '../../contract/safe-text.ts';
import { attributesOfRun } from '../../request/search-attributes.ts';
import { admissionRead } from '../../rules/never-deployed.ts';
import { resolveDeadline } from '../activity-proxies.ts';
import { tooLate, refusalOfWorker, refuseMisuse, restoredSince } from '../check-worker.ts';
import { conclude, type Conclusion } from '../conclusion.ts';
import { setAttributes } from '../ui.ts';
import { refusalOf } from '../operation/take-baseline.ts';
import { readOneStatus, deploymentReader } from '../polling/status-reader.ts';
import type { Hold } from './hooks.ts';
import type { RunState } from './run-state.ts';
import { awaitAdmission, takePlace } from './await-admission.ts';

const TARGETS_AT_ONCE = 10;

/** @param begunMs when the run began to execute. @returns null if the run may start */
export async function admit(run: RunState, begunMs: number): Promise<Conclusion | null> {
  const { facts, input, plan, targets, type } = run;
  // First, so that a run that is rejected below still sends notifications and appears in lists.
  for (const check of run.checks) check.begun?.();
  setAttributes(facts.searchAttributes, attributesOfRun(input));
  for (const observer of run.observers) await observer.begun?.();
  const restored = type === 'watchDeployment' ? null : restoredSince(input, facts);
  if (restored !== null) {
    for (const deployment of run.result.deployments) deployment.outcome = restored.outcome;
    return restored;
  }
  const refusal =
    tooLate(begunMs, plan.startWithinMs) ?? refusalOfWorker({ ...input, targets }, facts) ?? refuseMisuse(facts);
  if (refusal !== null) return refusal;
  for (const hold of run.holds) {
    const held = hold.refuse?.() ?? null;
    if (held !== null) return held;
  }
  const problem = (facts.admitted === false ? await awaitAdmission(run) : null) ?? (await resolveUntil(run));
  if (problem !== null || type === 'watchDeployment') return problem;
  // A wrong target is reported before the wait.
  return (await refusedTarget(run)) ?? (await waitForHolds(run, run.holds));
}

/** Waits until none of these holds the run. After a wait, what was known before it may have changed. */
async function waitForHolds(run: RunState, holds: readonly Hold[]): Promise<Conclusion | null> {
  for (const [index, hold] of holds.entries()) {
    const awaitsPeople = run.holds.some((it) => it.awaitsPeople?.() === true);
    const held = (await hold.begin?.(awaitsPeople)) ?? null;
    if (held === null) continue;
    if (held !== 'waited') return held;
    const before = holds.slice(0, index);
    const end = (await waitForHolds(run, before)) ?? (await takePlace(run)) ?? (await refusedTarget(run));
    if (end !== null) return end;
  }
  return null;
}

/** Finds the instant of `deploysUntil`. @returns a refusal if there is no such time zone */
async function resolveUntil({ input: { deploysUntil }, limits }: RunState): Promise<Conclusion | null> {
  if (deploysUntil === undefined) return null;
  const { time, timeZone, after = new Date(limits.startedMs).toISOString() } = deploysUntil;
  try {
    const at = await resolveDeadline({ time, timeZone, after });
    limits.until = { atMs: Date.parse(at), text: `${time} (${plainText(timeZone, 40)})` };
    return null;
  } catch {
    return conclude('not_started', 'Usage', `deploysUntil: there is no time zone ${plainText(timeZone)}`);
  }
}

/** Reads every target once, to find a rejected token or target before a backup is made. */
async function refusedTarget(run: RunState): Promise<Conclusion | null> {
  const { targets } = run;
  for (let first = 0; first < targets.length; first += TARGETS_AT_ONCE) {
    const checked = targets.slice(first, first + TARGETS_AT_ONCE);
    const asked = checked.map((target) =>
      readOneStatus(
        run,
        deploymentReader({ ...run.service, target }),
        plainText(`check of ${targetText(target)}`, 100),
      ),
    );
    for (const [index, read] of (await Promise.all(asked)).entries()) {
      const target = checked[index]!;
      run.admissionReads.set(lockIdOf(target), admissionRead(read));
      const refusal = refusalOf(read);
      if (refusal !== null) return conclude('not_started', 'Refused', `${targetText(target)}: ${refusal}`);
    }
  }
  return null;
}
