/**
 * Suggests budgets from the last weeks of backups and deployments. It costs one search, one read of each operation
 * found, and one read of each server or target that has enough of them.
 */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import pMap from 'p-map';
import { LRUCache } from 'lru-cache';
import type { BackupServerInput, DeploySiteInput, OperationMemo } from '../../contract/operation.ts';
import { operationIdOf } from '../../contract/ids.ts';
import { appTarget, siteTarget } from '../../contract/target.ts';
import { OPERATION_TYPES } from '../../contract/names.ts';
import { TIMING } from '../../contract/timing.ts';
import {
  adviceOf,
  subjectOf,
  type OperationAdvice,
  type AdviceSubject,
  LEAST_FOR_ADVICE,
  type Budget,
  timeToVerdict,
  type OperationResult,
} from './rules.ts';
import type { Observation } from '../../rules/usual.ts';
import { percentDecoded } from '../../config/environment/service-url.ts';
import { inputOf } from '../../client/decode-payloads.ts';
import { checkLimit, refuseUnknown } from '../../client/check-options.ts';
import { IN_PARALLEL, type Session } from '../../client/session.ts';
import { firstListed, ofTypes, onQueue, quoted, type Listed } from '../../client/list-filter.ts';
import { resultLeft, unlessMissing } from '../../client/read-workflow.ts';
import { leniently } from '../../encryption/payload-codec.ts';
import { within } from '../../client/within.ts';
import { failingAtLimits } from '../../client/transport/grpc-retries.ts';

export interface AdviceFilter {
  /** Only the first 50 count. Default: all servers and targets. */
  of?: readonly AdviceSubject[];
  /** How many operations to read, the newest of all. Default and maximum: 100. */
  limit?: number;
}

const ADVICE_FILTER: Record<keyof AdviceFilter, true> = { of: true, limit: true };

const MOST_SUBJECTS = 50;
const MOST_READ = 100;

interface Past {
  subject: AdviceSubject;
  observation: Observation | null;
}

interface Group {
  subject: AdviceSubject;
  /** The newest operation that could be read. */
  newest: WorkflowExecutionInfo | null;
  past: Observation[];
  /** Why some operations could not be read. Null if all could. */
  unreadable: string | null;
}

export function createAdvise(session: Session): (filter?: AdviceFilter) => Promise<OperationAdvice[]> {
  const { client } = session;
  const read = createPastReader(client);

  async function advise(filter: AdviceFilter): Promise<OperationAdvice[]> {
    refuseUnknown('advise', filter, ADVICE_FILTER);
    const { of, limit = MOST_READ } = filter;
    checkLimit(limit);
    const subjects = of?.slice(0, MOST_SUBJECTS);
    if (subjects?.length === 0) return [];
    const operations = await listClosed(session, subjects, Math.min(limit, MOST_READ));
    const groups = groupByLock(operations, await read(operations));
    for (const subject of subjects ?? []) {
      const lockId = operationIdOf(subject);
      if (!groups.has(lockId)) groups.set(lockId, emptyGroup(subject));
    }
    return pMap(groups.values(), toAdvice, IN_PARALLEL);
  }

  async function toAdvice({ subject, newest, past, unreadable: ofPast }: Group): Promise<OperationAdvice> {
    const isEnough = newest !== null && past.length >= LEAST_FOR_ADVICE;
    const { answer, unreadable } = await leniently(async () => (isEnough ? budgetOf(newest) : null));
    const why = ofPast ?? unreadable;
    return { ...adviceOf(subject, past, answer), ...(why === null ? {} : { unreadable: why }) };
  }

  /** Null also for an operation that Temporal has deleted since it listed it. */
  async function budgetOf({ workflowId, runId }: WorkflowExecutionInfo): Promise<Budget | null> {
    const input = await unlessMissing(inputOf<BackupServerInput | DeploySiteInput>(client, workflowId, runId));
    return input === null ? null : { intervalMs: input.intervalMs, tries: input.tries };
  }

  return (filter = {}) =>
    within(session, TIMING.advice.answerMs, 'look back at past operations', () =>
      failingAtLimits(() => advise(filter)),
    );
}

/** Reads one page, the newest first. The query needs none of Belay's search attributes. */
async function listClosed(
  { client, taskQueue }: Session,
  subjects: readonly AdviceSubject[] | undefined,
  limit: number,
): Promise<Listed[]> {
  const which =
    subjects === undefined
      ? [ofTypes(OPERATION_TYPES), onQueue(taskQueue)]
      : [`WorkflowId IN (${subjects.map((it) => quoted(operationIdOf(it))).join(', ')})`];
  const since = new Date(Date.now() - TIMING.advice.lookBackMs).toISOString();
  return firstListed(client, [...which, CLOSED, `StartTime >= ${quoted(since)}`].join(' AND '), limit);
}

/**
 * A site that moved to another service has a new past, so operations of another service than the newest do not count.
 */
function groupByLock(operations: readonly WorkflowExecutionInfo[], pasts: readonly Read[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const [index, operation] of operations.entries()) {
    const { past, unreadable } = pasts[index]!;
    if (past === null && unreadable === null) continue;
    const { workflowId } = operation;
    const group = groups.get(workflowId) ?? emptyGroup(past?.subject ?? subjectOfId(workflowId));
    groups.set(workflowId, group);
    group.unreadable ??= unreadable;
    if (past === null) continue;
    group.newest ??= operation;
    const isSameService = serviceOfOperation(operation) === serviceOfOperation(group.newest);
    if (past.observation !== null && isSameService) group.past.push(past.observation);
  }
  return groups;
}

const emptyGroup = (subject: AdviceSubject): Group => ({ subject, newest: null, past: [], unreadable: null });

/** For an operation of which only the id can be read. A very long id was cut. */
function subjectOfId(workflowId: string): AdviceSubject {
  const [kind, id = ''] = workflowId.split(':');
  const name = percentDecoded(id) ?? id;
  const subjects = [{ serverId: name }, { target: appTarget(name) }, { target: siteTarget(name) }];
  return subjects.find((it) => operationIdOf(it).split(':')[0] === kind) ?? { target: siteTarget(name) };
}

/* Reads the results of closed operations, with one search and one read of each. The list of workflows lags a moment. */

const CLOSED = `(ExecutionStatus = 'Completed' OR ExecutionStatus = 'Failed')`;

const MAX_REMEMBERED = 10_000;

interface Read {
  past: Past | null;
  /** Why it could not be read. Null if it could. */
  unreadable: string | null;
}

function createPastReader(client: Client) {
  // A closed operation does not change, but a key may be added.
  const known = new LRUCache<string, Read>({ max: MAX_REMEMBERED });

  async function read({ workflowId, runId, unreadable: ofMemo }: Listed): Promise<Read> {
    const before = known.get(runId);
    if (before !== undefined) return before;
    const handle = client.workflow.getHandle(workflowId, runId);
    // The list lags, so Temporal may have deleted it since.
    const { answer, unreadable: ofResult } = await leniently(() => unlessMissing(resultLeft<OperationResult>(handle)));
    const unreadable = ofMemo ?? ofResult;
    if (unreadable !== null) return { past: null, unreadable };
    const past = answer === null ? null : { subject: subjectOf(answer), observation: timeToVerdict(answer) };
    const found = { past, unreadable };
    known.set(runId, found);
    return found;
  }

  /** @returns in the same order */
  return (operations: readonly Listed[]): Promise<Read[]> => pMap(operations, read, IN_PARALLEL);
}

/** Empty for operations from before the service was recorded. */
const serviceOfOperation = ({ memo }: WorkflowExecutionInfo): string =>
  ((memo ?? {}) as Partial<OperationMemo>).service ?? '';
