/** Checks a run before it makes a backup: its start time, the service, the token and the targets. */
import type { WorkerInfo } from '../../../contract/activities.ts';
import type { RulesAnswer } from '../../../contract/approval.ts';
import type { FrozenParts } from '../../../contract/freeze.ts';
import { definedFields } from '../../../contract/plain-object.ts';
import { targetsInput } from '../../../contract/target.ts';
import { lockIdOf } from '../../../contract/ids/workflow-ids.ts';
import { attributesOfRun } from '../../../request/search-attributes.ts';
import { refuseUnasked } from '../../approval/conclude-unapproved.ts';
import { wasReset } from '../../common/reset.ts';
import { applyOverride, recordWaiver } from '../../common/apply-override.ts';
import { setAttributes } from '../../common/search-attributes.ts';
import { targetText } from '../../../contract/wording/target-text.ts';
import { refusalOf } from '../../operation/take-baseline.ts';
import { judgeFreezes, resolveDeadline } from '../../common/activity-proxies.ts';
import { awaitAdmission } from './await-admission.ts';
import { plainText } from '../../../contract/wording/safe-text.ts';
import { conclude, type Conclusion } from '../../common/conclusion.ts';
import { readOnce } from '../../polling/read-once.ts';
import { deploymentReader } from '../../polling/status-reader.ts';
import { admissionRead } from '../../../rules/polling/never-deployed.ts';
import { heldPart } from '../../../rules/policy/frozen-run.ts';
import { serviceOf } from '../state/operation-input.ts';
import { startReport } from '../state/report-run.ts';
import { refuseFrozen } from './refuse-frozen.ts';
import type { RunState } from '../state/run-state.ts';
import { supersedeOlder } from '../state/superseded-run.ts';
import { waitForApproval } from './wait-for-approval.ts';
import { takePlace, waitForThaw, waitsForThaw } from './wait-for-thaw.ts';
import { tooLate, refusalOfWorker, refuseMisuse, askOthers, restoredSince } from '../../common/check-worker.ts';

const TARGETS_AT_ONCE = 10;

/** What the first worker answered, and when the run began to execute. */
export interface Asked {
  begunMs: number;
  facts: WorkerInfo;
}

/** @returns null if the run may start */
export async function admit(run: RunState, asked: Asked): Promise<Conclusion | null> {
  const needs = { ...run.input, targets: run.targets };
  const facts = await askOthers(needs, asked.facts);
  const { service, formerly, statuses, epoch, deploymentId } = facts;
  run.service = { service, formerly, statuses, epoch, ...definedFields({ deploymentId }) };
  run.result.service = service;
  // Set these first, so that a run that is rejected below still sends notifications and appears in lists.
  run.checks = run.input.noCheck === undefined ? (asked.facts.checks ?? []) : [];
  recordWaiver(run, asked.facts.checksLeftOut);
  run.notify = facts.notify ?? null;
  run.searchAttributes = facts.searchAttributes;
  setAttributes(facts.searchAttributes, attributesOfRun(run.input));
  run.report = await startReport(run, asked.facts);
  const restored = run.type === 'watchDeployment' ? null : restoredSince(run.input, facts);
  if (restored !== null) {
    for (const deployment of run.result.deployments) deployment.outcome = restored.outcome;
    return restored;
  }
  const refusal =
    tooLate(asked.begunMs, run.plan.startWithinMs) ??
    refusalOfWorker(needs, facts) ??
    refuseMisuse(asked.facts) ??
    applyOverride(run, asked.facts.override) ??
    refuseFrozen(run, asked.facts.frozen) ??
    refuseUnasked(asked.facts.approval);
  if (refusal !== null) return refusal;
  const problem = (facts.admitted === false ? await awaitAdmission(run) : null) ?? (await resolveUntil(run));
  if (problem !== null) return problem;
  if (run.type === 'watchDeployment') return null;
  const refused = await refusedTarget(run);
  if (refused !== null) return refused;
  if (asked.facts.approval === undefined) await supersedeOlder(run);
  return (await thawed(run, asked.facts.frozen)) ?? (await approved(run, asked.facts.approval));
}

/** Days may pass until people approve: a freeze may have begun, and the targets are read once more. */
async function approved(run: RunState, answer: RulesAnswer | undefined): Promise<Conclusion | null> {
  if (answer === undefined || 'error' in answer || wasReset()) return null;
  const unapproved = await waitForApproval(run, answer.rules);
  if (unapproved !== null) return unapproved;
  // Not before: what no one has approved must replace nothing.
  await supersedeOlder(run);
  const frozen = (await frozenNow(run)) ?? undefined;
  return (
    refuseFrozen(run, frozen) ?? (await thawed(run, frozen)) ?? (await takePlace(run)) ?? (await refusedTarget(run))
  );
}

async function frozenNow({
  input: { serverId, fleet },
  targets,
  plan: { keepGoing },
  letOff,
}: RunState): Promise<FrozenParts | null> {
  const place = { ...targetsInput(targets), ...definedFields({ serverId, fleet }) };
  const backsUp = serverId !== undefined;
  return (await judgeFreezes({ ...place, backsUp, keepGoing, letOff, atMs: Date.now() })).frozen;
}

/** A wrong target is reported before the wait. After it, the targets are read once more. */
async function thawed(run: RunState, frozen: FrozenParts | undefined): Promise<Conclusion | null> {
  const next = { backsUp: run.input.serverId !== undefined, targets: run.targets };
  const isHeld = heldPart(frozen, { serverId: run.input.serverId, targets: run.targets }, false) !== null;
  if (!isHeld || !waitsForThaw(run)) return null;
  return (await waitForThaw(run, next, frozen ?? null)) ?? (await refusedTarget(run));
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
      readOnce(run, deploymentReader({ ...serviceOf(run), target }), plainText(`check of ${targetText(target)}`, 100)),
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
