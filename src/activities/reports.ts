/** Which places of `notify.reports` get the targets of a run that begins. */
import type { CheckedRequest, WorkerInfo, WorkflowRequest } from '../contract/activities.ts';
import type { RunInput } from '../contract/run.ts';
import { targetsOf } from '../contract/target.ts';
import { FULL_COMMIT } from '../contract/wording/commit-text.ts';
import type { Policy } from '../policy/policy.ts';

interface Known {
  reportsFor: Policy['reportsFor'];
  workerInfo: Pick<WorkerInfo, 'notify'>;
}

/** A place knows a commit by its full name only. */
export function reportsAsked(
  { input }: WorkflowRequest,
  checked: CheckedRequest | undefined,
  { reportsFor, workerInfo }: Known,
): Pick<WorkerInfo, 'reports'> {
  const commit = checked !== undefined && 'plan' in checked ? checked.plan.commit : null;
  if (typeof commit !== 'string' || !FULL_COMMIT.test(commit)) return {};
  const known = workerInfo.notify?.reports ?? [];
  const { serverId, ...asked } = input as RunInput;
  const reports = targetsOf(asked).flatMap((target) =>
    reportsFor({ target, serverId })
      .filter((name) => known.includes(name))
      .map((report) => ({ report, target })),
  );
  return reports.length === 0 ? {} : { reports };
}
