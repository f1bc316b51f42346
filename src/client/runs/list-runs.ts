/** Runs of the past and present, newest first. */
import type { WorkflowExecutionInfo } from '@temporalio/client';
import { RUN_TYPES, type Outcome, type RunResult } from '../../contract/run.ts';
import { someAtOnce } from '../connection/at-once.ts';
import { asBelayError } from '../connection/to-belay-error.ts';
import { withLink } from '../connection/ui-link.ts';
import { newest, quoted } from '../connection/list-filter.ts';
import type { Session } from '../session.ts';
import { closedResult, knownOf } from './run-status.ts';

export interface RunFilter {
  siteId?: string;
  serverId?: string;
  outcome?: Outcome;
  /** Started at or after this time, ISO 8601. */
  since?: string;
  /** Default 20. */
  limit?: number;
}

const DEFAULT_LIMIT = 20;
const LIST_TIMEOUT_MS = 20_000;

export async function listRuns(session: Session, filter: RunFilter): Promise<RunResult[]> {
  return session.client.withDeadline(Date.now() + LIST_TIMEOUT_MS, () => list(session, filter));
}

async function list(session: Session, filter: RunFilter): Promise<RunResult[]> {
  const limit = filter.limit ?? DEFAULT_LIMIT;
  try {
    return await someAtOnce(await newest(session, queryOf(filter), limit), (info) => resultOf(session, info));
  } catch (error) {
    throw asBelayError(error, 'list runs');
  }
}

async function resultOf(session: Session, info: WorkflowExecutionInfo): Promise<RunResult> {
  const known = withLink(session, knownOf(info));
  if (info.status.name === 'RUNNING') return known;
  return withLink(session, await closedResult(session.client.workflow.getHandle(info.workflowId, info.runId), known));
}

function queryOf({ siteId, serverId, outcome, since }: RunFilter): string {
  return [
    `WorkflowType IN (${RUN_TYPES.map(quoted).join(', ')})`,
    ...(siteId === undefined ? [] : [`BelaySite = ${quoted(siteId)}`]),
    ...(serverId === undefined ? [] : [`BelayServer = ${quoted(serverId)}`]),
    ...(outcome === undefined ? [] : [outcomeQuery(outcome)]),
    ...(since === undefined ? [] : [`StartTime >= ${quoted(since)}`]),
  ].join(' AND ');
}

/** A run that was terminated could not note its outcome. */
function outcomeQuery(outcome: Outcome): string {
  const noted = `BelayOutcome = ${quoted(outcome)}`;
  return outcome === 'unknown' ? `(${noted} OR ExecutionStatus = 'Terminated')` : noted;
}
