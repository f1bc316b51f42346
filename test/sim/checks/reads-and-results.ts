/**
 * S7: what an operation reports follows from the reads in its history. Written from the documentation of evidence, not
 * with the rules that the workflows use. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { POOLED_WAIT_ACTIVITY } from '../../../src/contract/names.ts';
import type { TriggerAnswer } from '../../../src/contract/activities.ts';
import type { DeploySiteInput, OperatedDeployment } from '../../../src/contract/operation.ts';
import type { BackupResult, DeploymentResult } from '../../../src/contract/run.ts';
import { msOf, normal, stateOf } from '../../model/facts.ts';
import { resultOf } from '../plays/record.ts';
import { startInput } from '../stack/inspect.ts';
import { isOperation, type Run } from '../temporal/types.ts';
import type { World } from '../world.ts';
import { resumedMs, wasParked } from './phases.ts';
import { recordedReads, type RecordedRead } from './recorded-reads.ts';
import { showedChange, showedIdentity } from './site-verdicts.ts';

interface Answered extends RecordedRead {
  answer: Extract<NonNullable<RecordedRead['answer']>, { ok: true }>;
}

const SETTLED_READS = 4;
/** A history shows a moment only with the end of its task. */
const RECORDED_WITHIN_MS = 5_000;

export function unfounded({ server: { runs } }: Pick<World, 'server'>): string[] {
  const operations = runs.filter(isOperation).flatMap((run) => {
    const result = resultOf<BackupResult | DeploymentResult>(run.outcome);
    // Cancelled, it may leave the answer of its last read out.
    if (result === null || run.history.some(({ kind }) => kind === 'cancelRequested')) return [];
    const answered = recordedReads(run).filter((it): it is Answered => it.answer?.ok === true);
    const problems = [
      ...statusProblems(result, answered, assumes(run)),
      ...('target' in result ? evidenceProblems(run, result, answered) : []),
    ];
    return problems.map((problem) => `S7: ${run.workflowId} ${problem}`);
  });
  return [...operations, ...runs.flatMap((run) => passedOnProblems(run, runs))];
}

/** A hint ended a pooled wait, whose reads are then counted as they were due. */
function assumes({ history }: Run): boolean {
  const closed = history.flatMap((it) => (it.kind === 'activityClosed' ? [it.scheduledId] : []));
  return history.some(
    (it) => it.kind === 'activityScheduled' && it.type === POOLED_WAIT_ACTIVITY && !closed.includes(it.id),
  );
}

function statusProblems(result: BackupResult | DeploymentResult, answered: Answered[], mayBeMore: boolean): string[] {
  const outcome = reportedBy(result);
  const { polls, lastStatus, startedAt, acceptedAt, endedAt } = result;
  const own = answered.findLast(({ isPooled }) => !isPooled);
  // A read for a hint may decide in the moment in which the pool ends.
  const isHintedEnd = own?.isHinted === true && own.answer.status === lastStatus;
  // One that was slow may be answered after the pool has decided, with what it read before.
  const ofPool = answered.findLast(({ isPooled }) => isPooled);
  const isPoolsEnd = own?.isHinted === true && own === answered.at(-1) && ofPool?.answer.status === lastStatus;
  const deciding = isHintedEnd ? own : isPoolsEnd ? ofPool : untilDecided(result, answered).at(-1);
  const last = deciding?.answer.status ?? null;
  const times = [startedAt, acceptedAt, endedAt].flatMap((at) => (at === null ? [] : [msOf(at)]));
  const found = times.every((ms, index) => index === 0 || ms >= times[index - 1]!) ? [] : ['has times out of order'];
  // What the pool read is then counted as it was due, although its wait ended later.
  const isAssumed = isHintedEnd && answered.some(({ isPooled }) => isPooled);
  const least = isAssumed ? answered.filter(({ isPooled }) => !isPooled).length : answered.length;
  if (mayBeMore || isAssumed ? polls < least : polls !== answered.length)
    found.push(`reports ${polls} polls, and ${answered.length} reads were answered`);
  if (lastStatus !== last) found.push(`reports "${lastStatus}", and the last read is "${last}"`);
  const isVerdict = outcome === 'completed' || outcome === 'failed';
  if (isVerdict && stateOf(last ?? '') !== outcome) found.push(`${outcome}, and the last read is "${last}"`);
  if (isVerdict && acceptedAt === null) found.push(`${outcome}, and its request was not accepted`);
  return found;
}

/**
 * The reads up to the one that decided. While the answer to a request is outstanding, others follow the end of what was in
 * progress, or of our id. A change alone has to be the last one.
 */
function untilDecided(result: BackupResult | DeploymentResult, answered: Answered[]): Answered[] {
  const isEarly = answered.at(-1)?.stage === 'trace' && ['completed', 'failed'].includes(reportedBy(result) ?? '');
  if (!isEarly || !('evidence' in result) || result.evidence === 'changed') return answered;
  return answered.slice(0, answered.findLastIndex(({ answer }) => answer.status === result.lastStatus) + 1);
}

/** What the service reports, also where the check of the site says no. */
function reportedBy(result: BackupResult | DeploymentResult): DeploymentResult['outcome'] {
  const decided = 'check' in result ? (result.check?.outcome ?? 'passed') : 'passed';
  const isOfCheck = decided !== 'passed' && result.outcome !== 'cancelled';
  return isOfCheck ? 'completed' : result.outcome;
}

function evidenceProblems(run: Run, result: DeploymentResult, answered: Answered[]): string[] {
  const outcome = reportedBy(result);
  const { evidence, acceptedAt, endedAt, inProgressAt } = result;
  if (outcome === 'unknown')
    return hadSettled(run, result, answered) ? ['ends unknown, and its status had settled'] : [];
  if (outcome !== 'completed' && outcome !== 'failed') return [];
  const { settleMs } = startInput<DeploySiteInput>(run);
  const fromIndex = answered.findLastIndex(({ stage }) => stage === 'baseline') + 1;
  const since = untilDecided(result, answered).slice(fromIndex);
  const words = since.map(({ answer }) => normal(answer.status));
  const baseline = answered[fromIndex - 1];
  const isMoving = (it: Answered) => stateOf(it.answer.status) === 'in_progress';
  const hasMoved = answered.slice(fromIndex).some(isMoving);
  const found = hasMoved === (inProgressAt !== null) ? [] : [`was in progress: ${hasMoved}, reports ${inProgressAt}`];
  const holds = {
    identity: () => showedIdentity(run) || idsIn(since.at(-1)!.answer).some((id) => requestIds(run).includes(id)),
    transition: () => since.some(isMoving),
    changed: () => showedChange(run) || baseline === undefined || normal(baseline.answer.status) !== words.at(-1),
    settled() {
      const resumed = resumedMs(run);
      const fromMs = resumed === null ? msOf(acceptedAt) : Math.max(msOf(acceptedAt), resumed - RECORDED_WITHIN_MS);
      // The read that ended an outage counts, however long the workflow took to hear of it.
      const resuming = since.findLast(
        ({ began }) => began.fromMs >= msOf(acceptedAt) && began.toMs <= (resumed ?? -Infinity),
      );
      const own = since.filter((it) => !it.isHinted && (it === resuming || it.began.toMs >= fromMs));
      const isSame = own.slice(-SETTLED_READS).every(({ answer }) => normal(answer.status) === words.at(-1));
      return own.length >= SETTLED_READS && isSame && msOf(endedAt) - fromMs >= settleMs;
    },
  };
  if (evidence === null || !holds[evidence]())
    found.push(`reports evidence "${evidence}", which its reads do not show`);
  return found;
}

/** Its own last reads since the acceptance show one final status, for the settle time. */
function hadSettled(run: Run, { acceptedAt }: DeploymentResult, answered: Answered[]): boolean {
  const { settleMs, minEvidence } = startInput<DeploySiteInput>(run);
  if (acceptedAt === null || minEvidence !== 'settled' || wasParked(run)) return false;
  const since = answered.filter(({ began }) => began.fromMs >= msOf(acceptedAt));
  const [last] = since.slice(-1);
  // Ids may contradict.
  if (since.some(({ answer }) => answer.ids !== undefined)) return false;
  if (last === undefined || stateOf(last.answer.status) === 'in_progress') return false;
  const other = since.findLastIndex(({ answer }) => normal(answer.status) !== normal(last.answer.status));
  const same = since.slice(other + 1).filter(({ isHinted }) => !isHinted);
  // The acceptance begins the first row, and the first read of another word begins each later one.
  const rowMs = other < 0 ? msOf(acceptedAt) : since[other + 1]!.began.toMs;
  return same.length >= SETTLED_READS && same.at(-1)!.began.fromMs - rowMs >= settleMs;
}

const idsIn = ({ ids = {} }: TriggerAnswer): string[] => Object.values(ids);

/** The ids in the answers to its requests. */
function requestIds({ history }: Run): string[] {
  return history.flatMap((event) => {
    if (event.kind !== 'activityClosed' || event.type !== 'triggerDeployment' || !('result' in event.outcome))
      return [];
    return idsIn(payloads.fromPayload<TriggerAnswer>(event.outcome.result!));
  });
}

/** A run reports each deployment as its operation did. */
function passedOnProblems(run: Run, runs: readonly Run[]): string[] {
  if (isOperation(run)) return [];
  const deployments = resultOf<{ deployments?: DeploymentResult[] }>(run.outcome)?.deployments ?? [];
  const children = runs.filter(({ parent, type }) => parent?.runId === run.runId && type === 'deploySite');
  // After a wait for a freeze, a deployment begins again.
  const last = new Map(children.map((child) => [child.workflowId, child]));
  return [...last.values()].flatMap(({ workflowId, outcome }) => {
    const own = resultOf<OperatedDeployment>(outcome);
    const reported = deployments.find(({ target }) => isDeepStrictEqual(target, own?.target));
    // The run keeps these to itself.
    delete own?.readAnswers;
    // A run that is cancelled or terminated may have ended before it.
    if (own === null || reported === undefined || reported.outcome === 'cancelled') return [];
    // The run may give up waiting for the freeze that held it back.
    if (own.error?.type === 'Frozen' && reported.outcome === 'not_started') return [];
    return isDeepStrictEqual(own, reported) ? [] : [`S7: ${run.workflowId} reports ${workflowId} otherwise`];
  });
}
