/** Reports to the worker, for its log and metrics. In a replay, nothing is reported again. */
import { proxySinks, workflowInfo } from '@temporalio/workflow';
import type { BackupResult, DeploymentResult } from '../contract/run.ts';
import type { MetricSinks, Subject } from '../contract/sinks.ts';
import { isApp, type Target } from '../contract/target.ts';
import type { Conclusion } from './conclusion.ts';

export const metrics: MetricSinks['belay'] = proxySinks<MetricSinks>().belay;

export const subjectOfTarget = (target: Target): Subject => ({
  operation: 'deployment',
  ...(isApp(target) ? { app: target.id } : { site: target.id }),
});

export const subjectOfServer = (server: string): Subject => ({ operation: 'backup', server });

export function countOperation(result: BackupResult | DeploymentResult, { outcome, error }: Conclusion): void {
  const { lastStatus, polls } = result;
  const ended = { outcome, errorType: error?.type ?? null, lastStatus, polls };
  if ('target' in result)
    metrics.operationEnded({ ...subjectOfTarget(result.target), ...ended, evidence: result.evidence });
  else metrics.operationEnded({ ...subjectOfServer(result.serverId), ...ended });
}

/** Reports the end of a run or a rollout. */
export function countRun({ outcome, error }: Conclusion): void {
  metrics.runEnded({ type: workflowInfo().workflowType, outcome, errorType: error?.type ?? null });
}
