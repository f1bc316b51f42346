/** Reports to the worker, for its log and metrics. In a replay, nothing is reported again. */
import { proxySinks, workflowInfo } from '@temporalio/workflow';
import type { Outcome } from '../../contract/names.ts';
import type { BackupResult, DeploymentResult, RunError } from '../../contract/run.ts';
import type { ReportSinks, Subject } from '../../contract/reports.ts';
import { isApp, type Target } from '../../contract/target.ts';

export const report: ReportSinks['belay'] = proxySinks<ReportSinks>().belay;

export const subjectOfTarget = (target: Target): Subject => ({
  operation: 'deployment',
  ...(isApp(target) ? { app: target.id } : { site: target.id }),
});

export const subjectOfServer = (server: string): Subject => ({ operation: 'backup', server });

export const subjectOf = (result: BackupResult | DeploymentResult): Subject =>
  'target' in result ? subjectOfTarget(result.target) : subjectOfServer(result.serverId);

/** Of a run or a rollout. */
export function reportEnd({ outcome, error }: { outcome: Outcome | null; error: RunError | null }): void {
  report.runEnded({ type: workflowInfo().workflowType, outcome, errorType: error?.type ?? null });
}
