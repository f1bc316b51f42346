/** What becomes of the commit that a run names: which places of `notify.reports` get it, and whether anything uses it. */
import type { WorkflowRequest } from '../../contract/activities.ts';
import { partsOf, type RolloutInput } from '../rollouts/shapes.ts';
import type { RunInput } from '../../contract/run.ts';
import { isApp, targetsOf, type Target } from '../../contract/target.ts';
import { FULL_COMMIT } from './commit-text.ts';
import { targetText } from '../../contract/target-text.ts';
import { REPORTS_FACT, type ReportPlace } from './shapes.ts';
import type { Fact, Known } from '../../activities/fact.ts';
import type { PlannedOperation } from '../../config/policy.ts';

/** A place knows a commit by its full name only. */
export const reportsFact: Fact<ReportPlace[]> = {
  ...REPORTS_FACT,
  ask({ request, plan: { commit }, begins }, known) {
    if (!begins || typeof commit !== 'string' || !FULL_COMMIT.test(commit)) return undefined;
    const { serverId, fleet, ...asked } = request.input as RunInput;
    const reports = targetsOf(asked).flatMap((target) =>
      placesOf({ target, serverId, fleet }, known).map((report) => ({ report, target })),
    );
    return reports.length === 0 ? undefined : reports;
  },
  misuse: ({ request }, known) => unusedCommit(request, known),
};

function placesOf(operation: PlannedOperation, { policy, workerInfo }: Known): string[] {
  const known = workerInfo.notify?.reports ?? [];
  return policy.reportsFor(operation).filter((name) => known.includes(name));
}

/** A commit that nothing reads or reports would be dropped without a word, and the run would seem to have proved it. */
function unusedCommit({ input }: WorkflowRequest, known: Known): string | null {
  const asked = input as RunInput | RolloutInput;
  const commit = 'waves' in asked ? asked.options?.commit : asked.commit;
  if (commit === undefined) return null;
  const isRead = (target: Target) => !isApp(target) && known.policy.checkOf(target.id)?.plan.showsCommit === true;
  const { fleet } = asked;
  const isReported = (target: Target, serverId: string | undefined) =>
    FULL_COMMIT.test(commit) && placesOf({ target, serverId, fleet }, known).length > 0;
  const unused = partsOf(asked).flatMap((part) =>
    targetsOf(part).filter((target) => !isRead(target) && !isReported(target, part.serverId)),
  );
  if (unused.length === 0) return null;
  const some = unused.slice(0, MOST_NAMED).map((target) => targetText(target));
  const more = unused.length > MOST_NAMED ? [`${unused.length - MOST_NAMED} more`] : [];
  const remedy =
    "in the worker's belay.yaml, add a check with commit:, or a report of notify.reports (which needs all 40 hex digits)";
  return `nothing reads or reports the commit of ${[...some, ...more].join(', ')}: ${remedy}, or leave the commit out`;
}

const MOST_NAMED = 3;
