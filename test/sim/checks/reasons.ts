/**
 * S11: an operation has the reason that it reports for an end without a verdict, and counts its requests. Written from
 * docs/explanation/verdicts.md, without the rules that the workflows use. Pure.
 */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { ReadFailure, TriggerFailureDetails } from '../../../src/contract/activities.ts';
import type { DeploySiteInput } from '../../../src/contract/operation.ts';
import type { BackupResult, DeploymentResult } from '../../../src/contract/run.ts';
import type { HistoryEvent, Outcome } from '../core/events.ts';
import { isPost } from '../../support/post-activities.ts';
import { resultOf } from '../plays/record.ts';
import { isOperation, type Run } from '../temporal/types.ts';
import { msOf, planFor, stateOf } from '../../model/facts.ts';
import type { Played, PlayedRun } from '../../model/record.ts';
import type { World } from '../world.ts';
import { phasesOf, startInput } from '../stack/inspect.ts';
import { wasParked } from './phases.ts';
import { recordedReads, type RecordedRead } from './recorded-reads.ts';

const MAX_NO_EFFECT = 5;
const UNAUTHORIZED_PATIENCE_MS = 120_000;
const FIRST_PAUSE_MS = 1_000;
const SCHEDULE_TO_START = 2;

type Kind = 'in doubt' | 'no effect' | 'conflict' | 'not taken' | 'held back' | 'unauthorized' | 'other';

interface Post {
  /** The event of its answer. */
  id: number;
  kind: Kind;
  closedMs: number;
  retryAfterMs: number | null;
}

type Input = Pick<DeploySiteInput, 'intervalMs' | 'tries' | 'outageBudgetMs'> &
  Partial<Pick<DeploySiteInput, 'deadline'>>;

export function unreasonable({ world, played }: { world: World; played: Pick<Played, 'runs'> }): string[] {
  return [...world.server.runs.filter(isOperation).flatMap(ofOperation), ...played.runs.flatMap(tooEarly)];
}

/** @returns what is wrong with an operation */
function ofOperation(run: Run): string[] {
  const result = resultOf<BackupResult | DeploymentResult>(run.outcome);
  if (result === null || run.closedMs === null) return [];
  const posts = run.history.flatMap(postIn);
  const problems = [...attemptProblems(result, posts), ...reasonProblems(run, run.closedMs, posts)];
  if (parksWhileAnswered(run, posts)) problems.push('waits for a service that answers');
  return problems.map((problem) => `S11: ${run.workflowId} ${problem}`);
}

/** A run that triggers nothing more has passed one of its limits. */
function tooEarly(run: PlayedRun): string[] {
  const { result, closedMs, startedMs, workflowId, input } = run;
  if (result === null || closedMs === null) return [];
  const { startWithinMs, startDeploysWithinMs, backup } = planFor(run);
  const limits = [startedMs + (startDeploysWithinMs ?? Infinity)];
  if (input.serverId !== undefined)
    limits.push(msOf(result.backup?.startedAt ?? result.startedAt) + backup.maxAgeAtDeployMs);
  const ends = result.deployments.flatMap(({ error, endedAt }) =>
    error?.type === 'TooLate' ? [endedAt === null ? closedMs : msOf(endedAt)] : [],
  );
  const hasBegun = result.backup !== null || result.deployments.some(({ polls }) => polls > 0);
  if (result.error?.type === 'TooLate' && !hasBegun) {
    limits.push(startedMs + startWithinMs);
    ends.push(closedMs);
  }
  return ends.every((ms) => limits.some((limitMs) => limitMs < ms))
    ? []
    : [`S11: ${workflowId} ended TooLate before any of its limits`];
}

/** A request that no worker took, or that its worker held back, does not count as an attempt. */
function attemptProblems({ trigger: { attempts } }: BackupResult | DeploymentResult, posts: readonly Post[]): string[] {
  const made = posts.filter(({ kind }) => kind !== 'not taken' && kind !== 'held back').length;
  return attempts === made ? [] : [`reports ${attempts} attempts, and made ${made}`];
}

function reasonProblems(run: Run, closedMs: number, posts: readonly Post[]): string[] {
  const input = startInput<Input>(run);
  switch (failureOf(run.outcome)?.applicationFailureInfo?.type) {
    case 'TooLate':
      return isPast(input, closedMs) ? [] : ['ended TooLate before its deadline'];
    case 'Busy':
      return wasBusy(run, posts) ? [] : ['ended Busy, and nothing else was in progress'];
    case 'OutcomeUnknown':
      return [
        ...(wasToPark(run, input, posts)
          ? ['gives up on a service that is down, although it had an outage budget']
          : []),
        ...(countsOtherReads(run) ? ['counts reads as failed that had not failed'] : []),
      ];
    case 'Refused':
      return givesUpEarly(run, input, closedMs, posts) ? ['sends nothing more, although it had the time'] : [];
    default:
      return [];
  }
}

const isPast = ({ deadline }: Input, ms: number): boolean => deadline != null && ms > msOf(deadline.at);

function wasBusy(run: Run, posts: readonly Post[]): boolean {
  const isInProgress = recordedReads(run).some(
    ({ stage, answer }) => stage === 'baseline' && answer?.ok === true && stateOf(answer.status) === 'in_progress',
  );
  return isInProgress || posts.some(({ kind }) => kind === 'conflict');
}

/** A service that names no time, or one that is over, is left alone for an interval, of which a second is enough. */
const pauseAfter = ({ retryAfterMs }: Post, intervalMs: number): number =>
  Math.max(retryAfterMs ?? intervalMs, Math.min(intervalMs, FIRST_PAUSE_MS));

/** After requests that certainly had no effect. An outage that was waited for starts the budget again. */
function givesUpEarly(run: Run, { intervalMs, tries }: Input, closedMs: number, posts: readonly Post[]): boolean {
  const [first, last] = [posts[0], posts.at(-1)];
  if (first === undefined || last === undefined || wasParked(run)) return false;
  const mayEnd = ({ stage, answer }: RecordedRead) => stage === 'baseline' || answer?.ok !== true;
  if (recordedReads(run).some((read) => read.id > last.id && mayEnd(read))) return false;
  const count = (kind: Kind) => posts.filter((it) => it.kind === kind).length;
  const isOver = (budgetMs: number, pauseMs: number) => closedMs + pauseMs > first.closedMs + budgetMs;
  const resendMs = tries * intervalMs;
  const patienceMs = count('unauthorized') > 0 ? Math.min(resendMs, UNAUTHORIZED_PATIENCE_MS) : resendMs;
  switch (last.kind) {
    case 'no effect':
      return count('no effect') < MAX_NO_EFFECT && !isOver(resendMs, pauseAfter(last, intervalMs));
    case 'unauthorized':
      return count('unauthorized') < 2 && !isOver(patienceMs, 0);
    case 'not taken':
    case 'held back':
      return !isOver(patienceMs, Math.max(last.retryAfterMs ?? 0, FIRST_PAUSE_MS));
    default:
      return false;
  }
}

/** The last read shows a service that is down, and no pause that is longer than the budget. */
function wasToPark(run: Run, { outageBudgetMs }: Input, posts: readonly Post[]): boolean {
  // No operation waits for a service that may have its request.
  if (posts.some(({ kind }) => kind === 'in doubt')) return false;
  const last = recordedReads(run).at(-1)?.answer;
  if (outageBudgetMs === null || wasParked(run) || last == null || last.ok) return false;
  const isDown = ['network', 'timeout', 'held_back'].includes(last.kind) || (last.httpStatus ?? 0) >= 500;
  return isDown && (last.retryAfterMs ?? 0) < outageBudgetMs;
}

/** A read that a rate limit delays has not failed. Neither has one that another worker makes again. */
function countsOtherReads(run: Run): boolean {
  const [, counted] = /: (\d+) reads in a row failed/.exec(failureOf(run.outcome)?.message ?? '') ?? [];
  const answers = recordedReads(run).map(({ answer }) => answer);
  const since = answers.slice(answers.findLastIndex((answer) => answer?.ok === true) + 1);
  const failed = since.filter((answer) => answer === null || (!answer.ok && !isHeldBack(answer)));
  return counted !== undefined && failed.length < Number(counted);
}

const isHeldBack = ({ kind, httpStatus, retryAfterMs }: ReadFailure): boolean =>
  kind === 'held_back' || httpStatus === 429 || (httpStatus === 503 && retryAfterMs !== null);

/** Besides 5xx, the statuses that ask to come back later. */
const LATER = [408, 425, 429];

/** A service that answers a read in JSON, even with an error about that read, is not down. */
function parksWhileAnswered(run: Run, posts: readonly Post[]): boolean {
  const reads = recordedReads(run);
  return phasesOf(run).some(({ phase, id }) => {
    const index = reads.findLastIndex((it) => it.id < id);
    const read = reads[index];
    if (phase !== 'parked' || read?.answer == null) return false;
    // A request that was answered after the read began is what parks it. Between answer and parking, a hint may be read, or
    // a read that was lost is made again.
    const beganMs = read.isHinted || read.isSecond ? (reads[index - 1]?.began.toMs ?? 0) : read.began.toMs;
    if (posts.some((it) => it.closedMs >= beganMs && it.id < id)) return false;
    const { answer } = read;
    if (answer.ok) return true;
    return answer.isJson && answer.httpStatus !== null && answer.httpStatus < 500 && !LATER.includes(answer.httpStatus);
  });
}

const failureOf = (outcome: Run['outcome']) =>
  outcome !== null && outcome !== 'terminated' && 'failure' in outcome ? outcome.failure : null;

function postIn(event: HistoryEvent): Post[] {
  if (event.kind !== 'activityClosed' || !isPost({ name: event.type })) return [];
  const { kind, retryAfterMs } = kindOf(event.outcome);
  return [{ id: event.id, kind, retryAfterMs, closedMs: event.atMs }];
}

function kindOf(outcome: Outcome): Pick<Post, 'kind' | 'retryAfterMs'> {
  if ('result' in outcome) return { kind: 'other', retryAfterMs: null };
  const { applicationFailureInfo: info, timeoutFailureInfo: late } = outcome.failure;
  if (Number(late?.timeoutType) === SCHEDULE_TO_START) return { kind: 'not taken', retryAfterMs: null };
  if (late != null) return { kind: 'in doubt', retryAfterMs: null };
  const [detail] = info?.details?.payloads ?? [];
  const { httpStatus = null, retryAfterMs = null } =
    detail === undefined ? {} : payloads.fromPayload<Partial<TriggerFailureDetails>>(detail);
  const isUnauthorized = info?.type === 'Refused' && (httpStatus === 401 || httpStatus === 403);
  return { kind: isUnauthorized ? 'unauthorized' : (KINDS[info?.type ?? ''] ?? 'other'), retryAfterMs };
}

const KINDS: Record<string, Kind> = {
  Ambiguous: 'in doubt',
  Resting: 'not taken',
  Stale: 'not taken',
  Frozen: 'not taken',
  HeldBack: 'held back',
  NotSent: 'no effect',
  Throttled: 'no effect',
  Conflict: 'conflict',
};
