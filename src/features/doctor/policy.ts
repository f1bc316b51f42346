/** Checks that all workers of the queue apply the same policy, and that none keeps an earlier one. */
import proto from '@temporalio/proto';
import { pollersOf, type QueueState } from '../../client/pollers.ts';
import { identitiesOf } from '../../client/workers.ts';
import { parsePolicyNotice, policyQueue, type PolicyNotice } from '../../contract/policy-notice.ts';
import { parseIdentity } from '../../contract/worker-identity.ts';
import type { Check, Finding, NamespaceConnection } from '../../cli/doctor-check.ts';

const { TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;

export const policyCheck = (
  look: () => Promise<(NamespaceConnection & { seen: QueueState }) | null>,
  taskQueue: string,
): Check => ({
  name: 'policy',
  run: async (): Promise<Finding> => {
    const looked = await look();
    if (looked === null) return { state: 'skipped', message: 'Temporal does not answer' };
    const { connection, namespace, seen } = looked;
    const place = { namespace, taskQueue: policyQueue(taskQueue), type: TASK_QUEUE_TYPE_ACTIVITY };
    const reported = (await pollersOf(connection.workflowService, place)).toSorted((a, b) => b.polledMs - a.polledMs);
    const notices = reported.flatMap(({ identity }) => parsePolicyNotice(identity) ?? []);
    // The newest of each worker counts.
    return findingOf(identitiesOf(seen).flatMap((worker) => notices.find((it) => it.worker === worker) ?? []));
  },
});

export function findingOf(notices: readonly PolicyNotice[]): Finding {
  const outdated = notices.filter(({ isLatest }) => !isLatest);
  if (outdated.length > 0) {
    const who = outdated.map(({ worker }) => placeOf(worker)).join(', ');
    const message = `an earlier policy stays in force at ${who}, because belay.yaml cannot be used there`;
    return { state: 'warning', message, remedy: 'correct the file: the log of the worker names the mistake' };
  }
  const hashes = [...new Set(notices.map(({ hash }) => hash))];
  if (hashes.length === 0) return { state: 'skipped', message: 'no worker reports its policy' };
  if (hashes.length === 1) return { state: 'ok', message: `${hashes[0]} at every worker` };
  const groups = hashes.map((hash) => {
    const workers = notices.filter((it) => it.hash === hash);
    return `${hash} at ${workers.map(({ worker }) => placeOf(worker)).join(', ')}`;
  });
  const remedy = 'give all workers of the queue the same fleets, freezes, windows, sites and checks in belay.yaml';
  return { state: 'warning', message: `the workers differ: ${groups.join('; ')}`, remedy };
}

const placeOf = (worker: string): string => parseIdentity(worker)?.where ?? worker;
