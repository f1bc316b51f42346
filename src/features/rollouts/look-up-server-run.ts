/** Looks up the run of a server, which goes on if its rollout is terminated or reset. */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { TargetResult } from './shapes.ts';
import { isSameTarget } from '../../contract/target.ts';
import type { Session } from '../../client/session.ts';
import { closedResult, describeRun, knownOf } from '../../client/runs/run-status.ts';

export interface FoundTarget {
  target: TargetResult;
  /** Whether its run is still in progress. */
  isRunning: boolean;
}

export async function lookUpServerRun({ client }: Session, target: TargetResult): Promise<FoundTarget> {
  const isSeen = target.endedAt !== null && target.outcome !== 'unknown';
  if (isSeen || target.workflowId === null) return { target, isRunning: false };
  const handle = client.workflow.getHandle(target.workflowId);
  try {
    const described = await describeRun(handle);
    if (described.status.name === 'RUNNING') return { target, isRunning: true };
    const { outcome, backup, deployments, error, endedAt } = await closedResult(handle, knownOf(described));
    const known = target.deployments.map((it) => {
      const ended = deployments.find((deployment) => isSameTarget(deployment.target, it.target));
      return { ...it, outcome: ended?.outcome ?? it.outcome };
    });
    const found = { outcome, backup: backup?.outcome ?? null, deployments: known, error, endedAt };
    return { target: { ...target, ...found }, isRunning: false };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { target, isRunning: false };
    throw error;
  }
}
