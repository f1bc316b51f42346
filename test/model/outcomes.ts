/** I4: every outcome agrees with what really happened, or the journal shows why it is unknown. Pure. */
import { EVIDENCE } from '../../src/contract/names.ts';
import { backupServerId } from '../../src/contract/ids.ts';
import type { BackupResult, DeploymentResult, RunError } from '../../src/contract/run.ts';
import {
  allowance,
  backupsOf,
  cite,
  deedsIn,
  deployKey,
  hasWaitedForFreeze,
  lockOf,
  msOf,
  ofKey,
  operationOf,
  planFor,
  readsOf,
  stateOf,
  wasAway,
  type Effect,
  type Facts,
  type Read,
} from './facts.ts';
import type { PlayedRun } from './record.ts';
import { answersTo, cannotTell } from './whose.ts';

export function judgeOutcomes(facts: Facts): { violations: string[]; apart: string[] } {
  const apart: string[] = [];
  const violations = facts.played.runs.flatMap((run) => {
    const { result } = run;
    if (result === null) return [];
    const whole = result.error?.type === 'Internal' || result.outcome === null;
    const defects = whole ? [`I4: ${run.workflowId} ended with an internal error: ${result.error?.message}`] : [];
    const deployments = result.deployments.flatMap((deployment) => {
      if (!mayBeWrong(facts, run, deployment)) return deploymentProblem(facts, run, deployment) ?? [];
      apart.push(deployment.target.id);
      return [];
    });
    const backup = result.backup === null ? null : backupProblem(facts, run, result.backup);
    const named = [backup ?? [], deployments, wholeProblem(run) ?? []].flat();
    return [...defects, ...named.map((problem) => `I4: ${run.workflowId}: ${problem}`)];
  });
  return { violations, apart };
}

function mayBeWrong(facts: Facts, run: PlayedRun, deployment: DeploymentResult): boolean {
  const target = deployment.target.id;
  const how = answersTo(facts, target);
  if (how === undefined) return isApart(facts, run, deployment);
  return cannotTell(facts, run, deployment, how, [msOf(deployment.startedAt), endOf(facts, run, target)]);
}

/** Another user deployed between our baseline and our verdict, or `latest` lagged longer than the settle time. */
function isApart(facts: Facts, run: PlayedRun, { target: { id: target }, startedAt }: DeploymentResult): boolean {
  const key = deployKey(run, target);
  const { settleMs } = planFor(run).deploy;
  const here = facts.effects.filter((it) => it.kind === 'deployment' && it.target === target);
  const [fromMs, toMs] = [msOf(startedAt), endOf(facts, run, target)];
  return here.some(
    (effect) =>
      (effect.key !== key && effect.shownMs >= fromMs && effect.startedMs <= toMs) ||
      (effect.key === key && effect.lagMs > settleMs),
  );
}

/** By Temporal's clock: a workflow's own clock stops while its task waits for a slot. */
function endOf(facts: Facts, { runId, closedMs }: PlayedRun, target: string): number {
  return operationOf(facts, lockOf(target), runId)?.closedMs ?? closedMs ?? Infinity;
}

function wholeProblem({ result, cancelledMs, runId }: PlayedRun): string | null {
  const parts = [...(result?.backup == null ? [] : [result.backup]), ...(result?.deployments ?? [])];
  if (result?.runId !== runId) return `the result is that of ${result?.runId}`;
  if (result.outcome === 'completed' && parts.some(({ outcome }) => outcome !== 'completed'))
    return `completed, though a part is not: ${parts.map(({ outcome }) => outcome).join(', ')}`;
  if (result.outcome === 'failed' && !parts.some(({ outcome }) => outcome === 'failed'))
    return 'failed, though no part is';
  if (result.outcome === 'cancelled' && parts.some(({ outcome }) => outcome === 'failed'))
    return 'cancelled, though a part failed';
  return result.outcome === 'cancelled' && cancelledMs === null ? 'cancelled without a request' : null;
}

/** Compares the claimed outcome of an operation with the actual one. */
function claim(outcome: 'completed' | 'failed', effect: Effect | undefined, reads: Read[]): string | null {
  if (effect === undefined) return `${outcome}, though nothing was begun`;
  if (effect.ends !== outcome) return `${outcome}, though ${cite(effect.entry)} ends ${effect.ends}`;
  const seen = reads.some(({ atMs, maybe, state }) => maybe && state === outcome && atMs >= effect.endMs);
  return seen ? null : `${outcome} before ${cite(effect.entry)} had ended`;
}

function deploymentProblem(facts: Facts, run: PlayedRun, deployment: DeploymentResult): string | null {
  const outcome = underCheck(deployment);
  const { evidence } = deployment;
  const target = deployment.target.id;
  const key = deployKey(run, target);
  const [ours, sent] = [ofKey(facts.effects, key), facts.triggers.filter((it) => it.idempotencyKey === key)];
  const name = `${target}:`;
  if (outcome === null) return `${name} no outcome`;
  if (operationOf(facts, lockOf(target), run.runId)?.isTerminated === true)
    return outcome === 'unknown' ? null : `${name} ${outcome}, though its operation was terminated`;
  if (outcome === 'not_started')
    return ours[0] === undefined ? null : `${name} not_started, though ${cite(ours[0].entry)}`;
  const [fromMs, toMs] = [msOf(sent[0]?.at), endOf(facts, run, target)];
  const reads = readsOf(facts, target, fromMs, toMs);
  const moved = reads.filter(({ maybe, state }) => maybe && state === 'in_progress');
  if (outcome === 'completed' || outcome === 'failed') {
    const problem = claim(outcome, ours.at(-1), reads);
    const moves = evidence !== 'transition' || moved.length > 0;
    if (problem === null && !moves) return `${name} transition, though it never was in progress`;
    return problem === null ? weakness(run, deployment) : `${name} ${problem}`;
  }
  if (outcome === 'cancelled') return run.cancelledMs === null ? `${name} cancelled without a request` : null;
  // Ids may contradict, and a replica that lags uses up tries.
  if (answersTo(facts, target) !== undefined) return null;
  // A request lost with its worker, or with the connection, cannot be distinguished from one that was sent.
  const beganMs = msOf(deployment.startedAt) - 1_000;
  const wasLost = deedsIn(facts, beganMs, toMs) > 0 || wasAway(facts, beganMs, toMs);
  if (sent.length === 0 && wasLost) return null;
  if (sent.length === 0) return `${name} ${outcome}, though nothing was sent`;
  if (outcome === 'timed_out') return notTimedOut(facts, run, deployment, reads, ours.at(-1));
  const clear = sent.every(({ fault }) => fault === null) && deedsIn(facts, fromMs - 1_000, toMs) === 0;
  const failedReads = reads.some(({ sure }) => !sure) || wasAway(facts, fromMs, toMs) || wasHeldBack(deployment);
  // Another run may have made as many of these reads.
  const ownMoved = moved.filter(({ sure }) => sure).length - allowance(facts, run, target, fromMs, toMs);
  const weak = planFor(run).deploy.minEvidence !== 'settled' || ownMoved <= 0;
  const open = deployment.trigger.ambiguous || failedReads || weak || !clear;
  return open ? null : `${name} unknown, though every request was answered and it was seen in progress`;
}

/** A rate limit of one draw holds back the reads of all draws that share the worker, and only its own journal shows it. */
const wasHeldBack = (ended: { error: RunError | null } | null): boolean =>
  ended?.error?.message.includes('the service asked this worker to wait') === true;

/** What the service reports, where the check of the site decides. */
function underCheck({ outcome, check, error }: DeploymentResult): DeploymentResult['outcome'] {
  const decided = check?.outcome === 'failed' ? 'CheckFailed' : check?.outcome === 'unknown' ? 'OutcomeUnknown' : null;
  return decided !== null && error?.type === decided ? 'completed' : outcome;
}

function weakness(run: PlayedRun, { target: { id }, evidence }: DeploymentResult): string | null {
  const { minEvidence } = planFor(run).deploy;
  if (evidence !== null && EVIDENCE.indexOf(evidence) <= EVIDENCE.indexOf(minEvidence)) return null;
  return `${id}: a verdict by ${evidence}, though ${minEvidence} was asked for`;
}

function notTimedOut(
  facts: Facts,
  run: PlayedRun,
  { target: { id: target }, lastStatus, endedAt }: DeploymentResult,
  reads: Read[],
  ours: Effect | undefined,
): string | null {
  const name = `${target}: timed_out`;
  if (lastStatus === null || stateOf(lastStatus) !== 'in_progress') return `${name} with status "${lastStatus}"`;
  const { tries } = planFor(run).deploy;
  const answered = reads.filter(({ maybe }) => maybe).length;
  if (answered < tries) return `${name} after ${answered} of ${tries} reads`;
  const after = reads.filter(
    ({ atMs, sure, state }) => sure && state !== 'in_progress' && atMs >= (ours?.endMs ?? 0) && atMs < msOf(endedAt),
  );
  const lost = allowance(facts, run, target, reads[0]?.atMs ?? 0, msOf(endedAt));
  return after.length <= lost ? null : `${name}, though its end was read: ${cite(after[0]!.entry)}`;
}

function backupProblem(facts: Facts, run: PlayedRun, backup: BackupResult): string | null {
  const { outcome, backupId, serverId, lastStatus } = backup;
  const name = `backup of ${serverId}:`;
  const own = backupsOf(facts.effects, run);
  if (outcome === null) return `${name} no outcome`;
  if (operationOf(facts, backupServerId(serverId), run.runId)?.isTerminated === true) {
    // A cancelled run no longer waits for its backup.
    const fits = outcome === 'unknown' || (outcome === 'cancelled' && run.cancelledMs !== null);
    return fits ? null : `${name} ${outcome}, though its operation was terminated`;
  }
  // After a wait for a freeze, it is not the first one.
  if (outcome === 'not_started')
    return own[0] === undefined || hasWaitedForFreeze(run) ? null : `${name} not_started, though ${cite(own[0].entry)}`;
  const effect = facts.effects.find(({ kind, id }) => kind === 'backup' && id === backupId);
  const reads = backupId === null ? [] : readsOf(facts, backupId, 0, run.closedMs ?? Infinity);
  if (effect !== undefined && effect.target !== serverId) return `${name} ${backupId} is one of ${effect.target}`;
  if (outcome === 'completed' || outcome === 'failed') {
    const problem = claim(outcome, effect, reads);
    return problem === null ? null : `${name} ${problem}`;
  }
  if (outcome === 'cancelled') return run.cancelledMs === null ? `${name} cancelled without a request` : null;
  if (outcome === 'timed_out') {
    const { tries } = planFor(run).backup;
    const answered = reads.filter(({ maybe }) => maybe).length;
    if (answered < tries) return `${name} timed_out after ${answered} of ${tries} reads`;
    return stateOf(lastStatus ?? '') === 'in_progress' ? null : `${name} timed_out with status "${lastStatus}"`;
  }
  const sent = facts.triggers.filter(({ request }) => request.includes(`/servers/${serverId}/backups`));
  const troubled = [...sent, ...reads.map(({ entry }) => entry)].some(
    ({ fault, answered }) => fault !== null || (answered ?? 500) >= 400,
  );
  const during = [run.startedMs, run.closedMs ?? Infinity] as const;
  const disturbed = deedsIn(facts, ...during) > 0 || wasAway(facts, ...during);
  return troubled || disturbed || wasHeldBack(run.result) ? null : `${name} unknown, though every request was answered`;
}
