/** Lists running and closed runs, the newest first. */
import type { WorkflowExecutionInfo } from '@temporalio/client';
import pMap from 'p-map';
import { type RunResult } from '../../contract/run.ts';
import { appTarget, siteTarget, targetAttribute, targetOfAttribute, type Target } from '../../contract/target.ts';
import { withLink } from '../ui-link.ts';
import { within } from '../within.ts';
import { refuseUnknown } from '../check-options.ts';
import { IN_PARALLEL, type Session } from '../session.ts';
import { newest, ofTypes, quoted, type Listed } from '../list-filter.ts';
import { closedResult, knownOf } from './run-result.ts';
import { TIMING } from '../../contract/timing.ts';
import { emptyBackup, emptyDeployment } from '../../contract/results.ts';
import { leniently } from '../../encryption/payload-codec.ts';
import { ATTRIBUTE_KEYS } from '../../request/search-attributes.ts';
import { unlessMissing } from '../read-workflow.ts';
import { BelayError } from '../../contract/errors.ts';
import { plainText } from '../../contract/safe-text.ts';
import { problemOfId, targetOrProblem } from '../../request/problems.ts';
import { OUTCOMES, RUN_TYPES, type Outcome } from '../../contract/names.ts';

export interface RunFilter {
  siteId?: string;
  appId?: string;
  /** Only runs that deploy at least one of these targets. */
  targets?: readonly Target[];
  /** Only runs of this server, or of one of these servers. */
  serverId?: string | readonly string[];
  /** Only runs that ended with this outcome, or with one of these outcomes. */
  outcome?: Outcome | readonly Outcome[];
  /** Only runs started at or after this time, ISO 8601. */
  since?: string;
  /** How many runs to return. Default: 20. */
  limit?: number;
}

const RUN_FILTER: Record<keyof RunFilter, true> = {
  siteId: true,
  appId: true,
  targets: true,
  serverId: true,
  outcome: true,
  since: true,
  limit: true,
};

export async function listRuns(session: Session, filter: RunFilter): Promise<RunResult[]> {
  refuseUnknown('list', filter, RUN_FILTER);
  refuseUnknownOutcome([filter.outcome ?? []].flat());
  refuseUnfitIds(filter);
  return within(session, TIMING.client.listMs, 'list runs', async () => {
    const found = await newest(session, queryOf(filter), filter);
    return pMap(found, (info) => readResult(session, info), IN_PARALLEL);
  });
}

/** Temporal finds nothing for a misspelt one, which looks as if nothing had failed. */
function refuseUnknownOutcome(outcomes: readonly string[]): void {
  const unknown = outcomes.find((it) => !OUTCOMES.some((known) => known === it));
  if (unknown === undefined) return;
  throw new BelayError('Usage', `outcome: ${plainText(unknown)} is none of ${OUTCOMES.join(', ')}`);
}

function refuseUnfitIds({ siteId, appId, serverId = [], targets = [] }: RunFilter): void {
  const ids = Object.entries({ siteId, appId }).filter(([, id]) => id !== undefined);
  const servers = [serverId].flat().map((id) => ['serverId', id] as const);
  const ofIds = [...ids, ...servers].map(([name, id]) => [name, problemOfId(id)]);
  const ofTargets = targets.map(targetOrProblem).map((it) => ['targets', typeof it === 'string' ? it : null]);
  const [name, problem] = [...ofIds, ...ofTargets].find(([, it]) => it !== null) ?? [];
  if (problem != null) throw new BelayError('Usage', `${name}: ${problem}`);
}

/** Returns the result of a listed run, as far as it can be read. A run that was deleted meanwhile ended `unknown`. */
export async function readResult(session: Session, info: Listed): Promise<RunResult> {
  const known = listedResult(info);
  if (info.status.name === 'RUNNING') return withLink(session, known);
  const handle = session.client.workflow.getHandle(info.workflowId, info.runId);
  const { answer, unreadable } = await leniently<RunResult | undefined | null>(() =>
    unlessMissing(closedResult(handle, known)),
  );
  if (answer != null && unreadable === null) return withLink(session, answer);
  const error = answer?.error ?? null;
  // The list lags, so Temporal may have deleted the run since.
  const isDeleted = answer === null;
  return withLink(session, {
    ...known,
    outcome: recordedOutcome(info) ?? answer?.outcome ?? (isDeleted ? 'unknown' : null),
    // Temporal keeps the type of a failure as plain text.
    error: error === null ? null : { ...error, message: `the reason cannot be read: ${unreadable}` },
    ...(unreadable === null ? {} : { unreadable }),
  });
}

/** Knows only what the list shows. Where the memo cannot be decoded, the search attributes still name the parts. */
export function listedResult(info: Listed): RunResult {
  const { typedSearchAttributes: attributes, unreadable } = info;
  const known = knownOf(info);
  if (unreadable === null) return known;
  const [serverId] = attributes.get(ATTRIBUTE_KEYS.server) ?? [];
  const targets = (attributes.get(ATTRIBUTE_KEYS.site) ?? []).map(targetOfAttribute);
  return {
    ...known,
    backup: serverId === undefined ? null : emptyBackup(serverId),
    deployments: targets.map(emptyDeployment),
    unreadable,
  };
}

/** Null for a run in flight, and where only the result tells the outcome. */
export function recordedOutcome({ typedSearchAttributes, status }: WorkflowExecutionInfo): Outcome | null {
  const recorded = typedSearchAttributes.get(ATTRIBUTE_KEYS.outcome) as Outcome | undefined;
  return recorded ?? OUTCOME_OF_STATUS[status.name] ?? null;
}

const OUTCOME_OF_STATUS: Partial<Record<WorkflowExecutionInfo['status']['name'], Outcome>> = {
  COMPLETED: 'completed',
  TERMINATED: 'unknown',
  TIMED_OUT: 'unknown',
};

function queryOf({ siteId, appId, targets = [], serverId = [], outcome = [] }: RunFilter): string {
  return [
    ofTypes(RUN_TYPES),
    ...(siteId === undefined ? [] : [`BelaySite = ${quoted(targetAttribute(siteTarget(siteId)))}`]),
    ...(appId === undefined ? [] : [`BelaySite = ${quoted(targetAttribute(appTarget(appId)))}`]),
    ...anyOf(targets.map((it) => `BelaySite = ${quoted(targetAttribute(it))}`)),
    ...anyOf([serverId].flat().map((it) => `BelayServer = ${quoted(it)}`)),
    ...anyOf([outcome].flat().map(outcomeQuery)),
  ].join(' AND ');
}

const anyOf = (conditions: string[]): string[] => (conditions.length === 0 ? [] : [`(${conditions.join(' OR ')})`]);

/** A run that Temporal ended could not record its outcome. */
function outcomeQuery(outcome: Outcome): string {
  const recorded = `BelayOutcome = ${quoted(outcome)}`;
  return outcome === 'unknown' ? `${recorded} OR ExecutionStatus IN ('Terminated', 'TimedOut')` : recorded;
}
