/** Checks a run before it makes a backup: its start time, the service, the token, the targets, and what holds it back. */
import { workflowInfo } from '@temporalio/workflow';
import { MORE_THAN_WORKERS_CARRY } from '../../contract/explain-wait.ts';
import { targetText } from '../../contract/target.ts';
import { plainText } from '../../contract/safe-text.ts';
import { attributesOfRun } from '../../request/search-attributes.ts';
import { admissionRead } from '../../rules/never-deployed.ts';
import { refusalOf } from '../../rules/read-failures.ts';
import { resolveDeadline, waitForAdmission } from '../activity-proxies.ts';
import {
  askWorker,
  noWorkerWithin,
  takenUpTooLate,
  refusalOfWorker,
  refuseMisuse,
  restoredSince,
} from '../check-worker.ts';
import { conclude, type Conclusion } from '../conclusion.ts';
import { hasRoom } from '../history.ts';
import { setAttributes } from '../ui.ts';
import { unlessCancelled } from '../polling/poll-until.ts';
import { readerOf, readOneStatus } from '../polling/status-reader.ts';
import type { Hold } from './hooks.ts';
import { noteRead, type RunState } from './run-state.ts';

const TARGETS_AT_ONCE = 10;

/** @param beganMs when the run began to execute. @returns null if the run may start */
export async function admit(run: RunState, beganMs: number): Promise<Conclusion | null> {
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
    takenUpTooLate(beganMs, plan.startWithinMs) ?? refusalOfWorker({ ...input, targets }, facts) ?? refuseMisuse(facts);
  if (refusal !== null) return refusal;
  for (const hold of run.holds) {
    const held = hold.refuse?.() ?? null;
    if (held !== null) return held;
  }
  const problem = (facts.admitted === false ? await awaitAdmission(run) : null) ?? (await resolveUntil(run));
  if (problem !== null || type === 'watchDeployment') return problem;
  // A wrong target is reported before the wait.
  const refused = await refusedTarget(run);
  // A run that is cancelled by now ends at its first part. It replaces no other run, and asks nobody.
  if (refused !== null || run.cancellation.requested) return refused;
  return waitForHolds(run, run.holds);
}

/** Waits until none of these holds the run. After a wait, what was known before it may have changed. */
async function waitForHolds(run: RunState, holds: readonly Hold[]): Promise<Conclusion | null> {
  for (const [index, hold] of holds.entries()) {
    const awaitsPeople = run.holds.some((it) => it.awaitsPeople?.() === true);
    const held = (await hold.begin?.(awaitsPeople)) ?? null;
    if (held === null) continue;
    if (held !== 'waited') return held;
    const before = holds.slice(0, index);
    const end = (await waitForHolds(run, before)) ?? (await takePlace(run));
    const refused = end ?? (hasRoom() ? await refusedTarget(run) : null);
    if (refused !== null) return refused;
  }
  return null;
}

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
      readOneStatus(run, readerOf(run.service, { target }), plainText(`check of ${targetText(target)}`, 100)),
    );
    const reads = Promise.all(asked);
    // A service that does not answer must not hold up a cancelled run for each of its targets.
    if ((await unlessCancelled(run, reads)) === null) return null;
    for (const [index, read] of (await reads).entries()) {
      const target = checked[index]!;
      noteRead(run, target, admissionRead(read), read.ok ? read : undefined);
      const refusal = refusalOf(read);
      if (refusal !== null) return conclude('not_started', 'Refused', `${targetText(target)}: ${refusal}`);
    }
  }
  return null;
}

/* Admission: a run begins when a worker lets it, within the time that it may take to begin. */

const LEAST_MS = 1_000;

/** @param beganMs when the time began in which it may be admitted @returns null once it is admitted */
async function awaitAdmission(run: RunState, beganMs = run.limits.startedMs): Promise<Conclusion | null> {
  const { plan } = run;
  const phase = run.phase();
  run.setPhase('admission');
  run.setWaiting({ kind: 'admission', since: new Date().toISOString() });
  const leftMs = Math.max(LEAST_MS, beganMs + plan.startWithinMs - Date.now());
  const turn = waitForAdmission(workflowInfo().taskQueue, leftMs, MORE_THAN_WORKERS_CARRY).then(() => true);
  const isAdmitted = await unlessCancelled(run, turn).catch(() => false);
  run.setWaiting(null);
  if (run.cancellation.requested) return conclude('not_started', 'Cancelled', 'cancelled before it was admitted');
  if (isAdmitted !== true) return noWorkerWithin(plan.startWithinMs, 'admitted');
  run.setPhase(phase);
  return null;
}

/** Call this after a wait, because many runs that waited for the same thing begin within a minute. */
export async function takePlace(run: RunState): Promise<Conclusion | null> {
  const facts = await askWorker({ begins: true });
  if ('error' in facts) return { outcome: 'not_started', error: facts.error };
  return facts.admitted === false ? awaitAdmission(run, Date.now()) : null;
}
