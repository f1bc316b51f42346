/** I4: every outcome agrees with what really happened, or the journal shows why it can't be told. Pure. */
import { EVIDENCE, type BackupResult, type DeploymentResult } from '../../src/contract/run.ts';
import { deploySiteId } from '../../src/contract/ids/workflow-ids.ts';
import {
  allowance,
  backupKey,
  cite,
  deedsIn,
  deployKey,
  msOf,
  ofKey,
  planFor,
  readsOf,
  stateOf,
  type Effect,
  type Facts,
  type Read,
} from './facts.ts';
import type { PlayedRun } from './record.ts';

export function judgeOutcomes(facts: Facts): { violations: string[]; apart: string[] } {
  const apart: string[] = [];
  const violations = facts.played.runs.flatMap((run) => {
    const { result } = run;
    if (result === null) return [];
    const whole = result.error?.type === 'Internal' || result.outcome === null;
    const defects = whole ? [`I4: ${run.workflowId} ended by a defect: ${result.error?.message}`] : [];
    const deployments = result.deployments.flatMap((deployment) => {
      if (!isApart(facts, run, deployment)) return deploymentProblem(facts, run, deployment) ?? [];
      apart.push(deployment.siteId);
      return [];
    });
    const backup = result.backup === null ? null : backupProblem(facts, run, result.backup);
    const named = [backup ?? [], deployments, wholeProblem(run) ?? []].flat();
    return [...defects, ...named.map((problem) => `I4: ${run.workflowId}: ${problem}`)];
  });
  return { violations, apart };
}

/** Somebody else deployed between our baseline and our verdict, or `latest` lagged longer than the settle time. */
function isApart(facts: Facts, run: PlayedRun, { siteId, startedAt }: DeploymentResult): boolean {
  const key = deployKey(run, siteId);
  const { settleMs } = planFor(run).deploy;
  const here = facts.effects.filter(({ kind, target }) => kind === 'deployment' && target === siteId);
  const [fromMs, toMs] = [msOf(startedAt), endOf(facts, run, siteId)];
  return here.some(
    (effect) =>
      (effect.key !== key && effect.shownMs >= fromMs && effect.startedMs <= toMs) ||
      (effect.key === key && effect.lagMs > settleMs),
  );
}

/** By Temporal: a workflow's own clock stands still while its task waits for a slot. */
function endOf({ played }: Facts, { runId, closedMs }: PlayedRun, siteId: string): number {
  const own = played.operations.find((it) => it.parentRunId === runId && it.workflowId === deploySiteId(siteId));
  return own?.closedMs ?? closedMs ?? Infinity;
}

function wholeProblem({ result, cancelledMs, runId }: PlayedRun): string | null {
  const parts = [...(result?.backup == null ? [] : [result.backup]), ...(result?.deployments ?? [])];
  if (result?.runId !== runId) return `the result is that of ${result?.runId}`;
  if (result.outcome === 'completed' && parts.some(({ outcome }) => outcome !== 'completed'))
    return `completed, though a part is not: ${parts.map(({ outcome }) => outcome).join(', ')}`;
  if (result.outcome === 'failed' && !parts.some(({ outcome }) => outcome === 'failed'))
    return 'failed, though no part is';
  return result.outcome === 'cancelled' && cancelledMs === null ? 'cancelled, though nobody asked for it' : null;
}

/** What a part claims of an operation, against what became of it. */
function claim(outcome: 'completed' | 'failed', effect: Effect | undefined, reads: Read[]): string | null {
  if (effect === undefined) return `${outcome}, though nothing was begun`;
  if (effect.ends !== outcome) return `${outcome}, though ${cite(effect.entry)} ends ${effect.ends}`;
  const seen = reads.some(({ atMs, maybe, state }) => maybe && state === outcome && atMs >= effect.endMs);
  return seen ? null : `${outcome} before ${cite(effect.entry)} had ended`;
}

function deploymentProblem(facts: Facts, run: PlayedRun, deployment: DeploymentResult): string | null {
  const { siteId, outcome, evidence } = deployment;
  const key = deployKey(run, siteId);
  const [ours, sent] = [ofKey(facts.effects, key), facts.triggers.filter((it) => it.idempotencyKey === key)];
  const name = `site ${siteId}:`;
  if (outcome === null) return `${name} no outcome`;
  if (outcome === 'not_started')
    return ours[0] === undefined ? null : `${name} not_started, though ${cite(ours[0].entry)}`;
  const [fromMs, toMs] = [msOf(sent[0]?.at), endOf(facts, run, siteId)];
  const reads = readsOf(facts, siteId, fromMs, toMs);
  const moved = reads.filter(({ maybe, state }) => maybe && state === 'in_progress');
  if (outcome === 'completed' || outcome === 'failed') {
    const problem = claim(outcome, ours.at(-1), reads);
    const moves = evidence !== 'transition' || moved.length > 0;
    if (problem === null && !moves) return `${name} transition, though it never was in progress`;
    return problem === null ? weakness(run, deployment) : `${name} ${problem}`;
  }
  if (outcome === 'cancelled') return run.cancelledMs === null ? `${name} cancelled, though nobody asked for it` : null;
  // A request given to a worker that died with it can't be told from one that was sent.
  if (sent.length === 0 && deedsIn(facts, msOf(deployment.startedAt) - 1_000, toMs) > 0) return null;
  if (sent.length === 0) return `${name} ${outcome}, though nothing was sent`;
  if (outcome === 'timed_out') return notTimedOut(facts, run, deployment, reads, ours.at(-1));
  const clear = sent.every(({ fault }) => fault === null) && deedsIn(facts, fromMs - 1_000, toMs) === 0;
  const failedReads = reads.some(({ sure }) => !sure);
  const weak = planFor(run).deploy.minEvidence !== 'settled' || !moved.some(({ sure }) => sure);
  const open = deployment.trigger.ambiguous || failedReads || weak || !clear;
  return open ? null : `${name} unknown, though every request was answered and it was seen in progress`;
}

function weakness(run: PlayedRun, { siteId, evidence }: DeploymentResult): string | null {
  const { minEvidence } = planFor(run).deploy;
  if (evidence !== null && EVIDENCE.indexOf(evidence) <= EVIDENCE.indexOf(minEvidence)) return null;
  return `site ${siteId}: a verdict by ${evidence}, though ${minEvidence} was asked for`;
}

function notTimedOut(
  facts: Facts,
  run: PlayedRun,
  { siteId, lastStatus, endedAt }: DeploymentResult,
  reads: Read[],
  ours: Effect | undefined,
): string | null {
  const name = `site ${siteId}: timed_out`;
  if (lastStatus === null || stateOf(lastStatus) !== 'in_progress') return `${name}, though it said "${lastStatus}"`;
  const { tries } = planFor(run).deploy;
  const answered = reads.filter(({ maybe }) => maybe).length;
  if (answered < tries) return `${name} after ${answered} of ${tries} reads`;
  const after = reads.filter(
    ({ atMs, sure, state }) => sure && state !== 'in_progress' && atMs >= (ours?.endMs ?? 0) && atMs < msOf(endedAt),
  );
  const lost = allowance(facts, run, siteId, reads[0]?.atMs ?? 0, msOf(endedAt));
  return after.length <= lost ? null : `${name}, though its end was read: ${cite(after[0]!.entry)}`;
}

function backupProblem(facts: Facts, run: PlayedRun, backup: BackupResult): string | null {
  const { outcome, backupId, serverId, lastStatus } = backup;
  const name = `backup of ${serverId}:`;
  const own = ofKey(facts.effects, backupKey(run));
  if (outcome === null) return `${name} no outcome`;
  if (outcome === 'not_started')
    return own[0] === undefined ? null : `${name} not_started, though ${cite(own[0].entry)}`;
  const effect = facts.effects.find(({ kind, id }) => kind === 'backup' && id === backupId);
  const reads = backupId === null ? [] : readsOf(facts, backupId, 0, run.closedMs ?? Infinity);
  if (effect !== undefined && effect.target !== serverId) return `${name} ${backupId} is one of ${effect.target}`;
  if (outcome === 'completed' || outcome === 'failed') {
    const problem = claim(outcome, effect, reads);
    return problem === null ? null : `${name} ${problem}`;
  }
  if (outcome === 'cancelled') return run.cancelledMs === null ? `${name} cancelled, though nobody asked for it` : null;
  if (outcome === 'timed_out') {
    const { tries } = planFor(run).backup;
    const answered = reads.filter(({ maybe }) => maybe).length;
    if (answered < tries) return `${name} timed_out after ${answered} of ${tries} reads`;
    return stateOf(lastStatus ?? '') === 'in_progress' ? null : `${name} timed_out, though it said "${lastStatus}"`;
  }
  const sent = facts.triggers.filter(({ request }) => request.includes(`/servers/${serverId}/backups`));
  const troubled = [...sent, ...reads.map(({ entry }) => entry)].some(
    ({ fault, answered }) => fault !== null || (answered ?? 500) >= 400,
  );
  const deeds = deedsIn(facts, run.startedMs, run.closedMs ?? Infinity) > 0;
  return troubled || deeds ? null : `${name} unknown, though every request was answered`;
}
