/**
 * What the last weeks of backups and deployments suggest. It costs one search, a read of each operation found, and one of
 * each server or target with enough of them.
 */
import type { WorkflowExecutionInfo } from '@temporalio/client';
import pMap from 'p-map';
import type { BackupServerInput, DeploySiteInput } from '../../contract/operation.ts';
import { backupServerId, lockIdOf } from '../../contract/ids.ts';
import { OPERATION_TYPES } from '../../contract/names.ts';
import { TIMING } from '../../contract/timing.ts';
import { adviceOf, subjectOf, type OperationAdvice, type Subject } from './rules.ts';
import { LEAST_FOR_ADVICE, type Budget } from './advise.ts';
import { timeToVerdict } from './observe.ts';
import type { Observation } from './quantile.ts';
import { inputOf } from '../../client/decode-payloads.ts';
import { refuseUnknown } from '../../client/known-options.ts';
import { quoted } from '../../client/list-filter.ts';
import { IN_PARALLEL, type Session } from '../../client/session.ts';
import { within } from '../../client/within.ts';
import { withoutPutOff } from '../../client/transport/put-off.ts';
import { CLOSED, createPastReader, serviceOf, type OperationResult } from './past-operations.ts';

export interface AdviceFilter {
  /** At most the first 50 count. Default: all. */
  of?: readonly Subject[];
  /** How many operations to read, the newest of all. Default and maximum: 100. */
  limit?: number;
}

const ADVICE_FILTER: Record<keyof AdviceFilter, true> = { of: true, limit: true };

const MOST_SUBJECTS = 50;
const MOST_READ = 100;

interface Past {
  subject: Subject;
  observation: Observation | null;
}

/** Those of one lock. */
interface Group {
  subject: Subject;
  newest: WorkflowExecutionInfo | null;
  past: Observation[];
}

export function createAdvise(session: Session): (filter?: AdviceFilter) => Promise<OperationAdvice[]> {
  const { client } = session;
  const read = createPastReader(client, pastIn);

  async function advise(filter: AdviceFilter): Promise<OperationAdvice[]> {
    refuseUnknown('advise', filter, ADVICE_FILTER);
    const { of, limit = MOST_READ } = filter;
    const subjects = of?.slice(0, MOST_SUBJECTS);
    if (subjects?.length === 0) return [];
    const operations = await listClosed(session, subjects, Math.min(limit, MOST_READ));
    const groups = groupByLock(operations, await read(operations));
    for (const subject of subjects ?? []) {
      const lockId = lockOf(subject);
      if (!groups.has(lockId)) groups.set(lockId, { subject, newest: null, past: [] });
    }
    return pMap(groups.values(), toAdvice, IN_PARALLEL);
  }

  async function toAdvice({ subject, newest, past }: Group): Promise<OperationAdvice> {
    const isEnough = newest !== null && past.length >= LEAST_FOR_ADVICE;
    return adviceOf(subject, past, isEnough ? await budgetOf(newest) : null);
  }

  async function budgetOf({ workflowId, runId }: WorkflowExecutionInfo): Promise<Budget | null> {
    const input = await inputOf<BackupServerInput | DeploySiteInput>(client, workflowId, runId);
    return input === null ? null : { intervalMs: input.intervalMs, tries: input.tries };
  }

  return (filter = {}) =>
    within(session, TIMING.advice.answerMs, 'look back at past operations', () => withoutPutOff(() => advise(filter)));
}

/** One page, the newest first. It needs no search attribute of Belay's. */
async function listClosed(
  { client, taskQueue }: Session,
  subjects: readonly Subject[] | undefined,
  limit: number,
): Promise<WorkflowExecutionInfo[]> {
  const which =
    subjects === undefined
      ? [`WorkflowType IN (${OPERATION_TYPES.map(quoted).join(', ')})`, `TaskQueue = ${quoted(taskQueue)}`]
      : [`WorkflowId IN (${subjects.map((it) => quoted(lockOf(it))).join(', ')})`];
  const since = new Date(Date.now() - TIMING.advice.lookBackMs).toISOString();
  const query = [...which, CLOSED, `StartTime >= ${quoted(since)}`].join(' AND ');
  const found: WorkflowExecutionInfo[] = [];
  for await (const operation of client.workflow.list({ query, pageSize: limit })) {
    if (found.push(operation) >= limit) break;
  }
  return found;
}

const lockOf = (subject: Subject): string =>
  'target' in subject ? lockIdOf(subject.target) : backupServerId(subject.serverId);

function pastIn(result: OperationResult | null): Past | null {
  if (result === null) return null;
  return { subject: subjectOf(result), observation: timeToVerdict(result) };
}

/** A site that moved to another service has a new past. */
function groupByLock(
  operations: readonly WorkflowExecutionInfo[],
  pasts: readonly (Past | null)[],
): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const [index, operation] of operations.entries()) {
    const found = pasts[index] ?? null;
    if (found === null) continue;
    const { subject, observation } = found;
    const group = groups.get(operation.workflowId) ?? { subject, newest: operation, past: [] };
    groups.set(operation.workflowId, group);
    const isSameService = group.newest !== null && serviceOf(operation) === serviceOf(group.newest);
    if (observation !== null && isSameService) group.past.push(observation);
  }
  return groups;
}
