/** Finds runs that only workers of one version may continue while none of them polls. Such runs keep their locks. */
import { Client, type ConnectionLike, type WorkflowExecutionDescription } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import proto from '@temporalio/proto';
import { isSameVersion, parseVersion, versionText, type WorkerVersion } from '../../contract/worker-identity.ts';
import { onQueue, quoted, RUNNING } from '../list-filter.ts';
import { toVersion, type QueueState } from '../pollers.ts';
import type { Session } from '../session.ts';

const { VERSIONING_BEHAVIOR_PINNED: PINNED } = proto.temporal.api.enums.v1.VersioningBehavior;

/** Temporal sets this search attribute. */
const VERSION = defineSearchAttributeKey('TemporalWorkerDeploymentVersion', 'KEYWORD');

/**
 * @returns how many workflows of the queue wait for such workers, and the version of one of them; null if none waits
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

/** @returns the missing version, or null */
export async function unservedVersion(
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
