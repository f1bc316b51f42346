/** Whether anyone answers for a run, without a question to the run itself. */
import { Client, type ConnectionLike, type WorkflowExecutionDescription } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import proto from '@temporalio/proto';
import { ADMISSION_ACTIVITY } from '../../contract/names.ts';
import { isSameVersion, parseVersion, versionText, type WorkerVersion } from '../../contract/worker-identity.ts';
import { onQueue, quoted, RUNNING } from '../list-filter.ts';
import { toVersion, type QueueState } from '../pollers.ts';
import type { Session } from '../session.ts';
import { latestEvents } from './recorded-wait.ts';

const { VERSIONING_BEHAVIOR_PINNED: PINNED } = proto.temporal.api.enums.v1.VersioningBehavior;

/** A run counts as stuck after this many attempts of one workflow task. */
const STUCK_ATTEMPTS = 3;

/** Whether a run or rollout has ended, and if not, whether anyone answers for it. */
export type Contact =
  /** It has ended. */
  | 'closed'
  /** The run answered, or Temporal's records show that it makes progress. */
  | 'answers'
  /** No worker has picked the run up yet. */
  | 'not_begun'
  /** The run has begun, but no worker answers for it now. */
  | 'silent'
  /** A worker is running, but fails at the run's workflow task again and again. */
  | 'stuck'
  /** Only workers of one version may continue the run, and none of them is running. */
  | 'unserved';

export async function reasonOfSilence(session: Session, described: WorkflowExecutionDescription): Promise<Contact> {
  const { raw, historyLength } = described;
  // The history holds nothing but the start and the first scheduled task.
  if (historyLength <= 2) return 'not_begun';
  if ((raw.pendingWorkflowTask?.attempt ?? 0) < STUCK_ATTEMPTS) return 'silent';
  const [{ pollers }, events] = await Promise.all([session.workers(), latestEvents(session, described)]);
  // A frozen or overloaded worker lets tasks time out, and fails at none.
  const ended = events.find((it) => it.workflowTaskFailedEventAttributes ?? it.workflowTaskTimedOutEventAttributes);
  return pollers.length > 0 && ended?.workflowTaskFailedEventAttributes ? 'stuck' : 'silent';
}

/** A run or rollout with fewer events has not reached its first operation. */
const FIRST_EVENTS = 12;

/**
 * True while a worker executes one of its first steps, which take a moment. A run without such a step waits for
 * something, and only the run itself knows what for.
 */
export function isBeginning({ raw, historyLength, type }: WorkflowExecutionDescription): boolean {
  if (historyLength >= FIRST_EVENTS || type === 'watchDeployment') return false;
  const steps = raw.pendingActivities?.filter((it) => it.activityType?.name !== ADMISSION_ACTIVITY) ?? [];
  return steps.length > 0 || raw.pendingWorkflowTask != null;
}

/** Says `unserved` instead, with the version, if the run does not answer because no worker of its version is running. */
export async function contactFields(
  session: Session,
  described: WorkflowExecutionDescription,
  contact: Contact,
): Promise<{ contact: Contact; version?: WorkerVersion }> {
  if (contact === 'answers' || contact === 'closed') return { contact };
  const version = await unservedVersion(session, described).catch(() => null);
  return version === null ? { contact } : { contact: 'unserved', version };
}

/* Runs that only workers of one version may continue, while none of them polls. Such runs keep their locks. */

/** Temporal sets this search attribute. */
const VERSION = defineSearchAttributeKey('TemporalWorkerDeploymentVersion', 'KEYWORD');

/**
 * @returns how many workflows of the queue wait for such workers, and the version of one of them; null if none waits, or
 * if Temporal does not name it
 */
export async function findUnserved(
  connection: ConnectionLike,
  { namespace, taskQueue }: Pick<Session, 'namespace' | 'taskQueue'>,
  { pollers }: QueueState,
): Promise<{ count: number; version: WorkerVersion } | null> {
  const served = pollers.flatMap(({ version }) => (version === null ? [] : [versionText(version)]));
  const query = [
    onQueue(taskQueue),
    RUNNING,
    `${VERSION.name} IS NOT NULL`,
    ...served.map((it) => `${VERSION.name} != ${quoted(it)}`),
  ].join(' AND ');
  const { workflow } = new Client({ connection, namespace });
  for await (const { typedSearchAttributes } of workflow.list({ query, pageSize: 1 })) {
    const version = parseVersion(typedSearchAttributes.get(VERSION) ?? '');
    return version === null ? null : { version, count: (await workflow.count(query)).count };
  }
  return null;
}

async function unservedVersion(
  { workers }: Session,
  described: WorkflowExecutionDescription,
): Promise<WorkerVersion | null> {
  const version = pinnedTo(described);
  if (version === null) return null;
  const { pollers } = await workers();
  return pollers.some((it) => isSameVersion(it.version, version)) ? null : version;
}

function pinnedTo({ raw }: WorkflowExecutionDescription): WorkerVersion | null {
  const { behavior, deploymentVersion, versioningOverride } = raw.workflowExecutionInfo?.versioningInfo ?? {};
  const overriding = toVersion(versioningOverride?.pinned?.version);
  if (overriding !== null) return overriding;
  return behavior === PINNED && versioningOverride?.autoUpgrade !== true ? toVersion(deploymentVersion) : null;
}
