/** What became of a server whose end its rollout, terminated or reset, didn't see: its run went on. */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { TargetResult } from '../../contract/rollout.ts';
import type { Session } from '../session.ts';
import { closedResult, describeRun, knownOf } from '../runs/run-status.ts';

export interface FoundTarget {
  target: TargetResult;
  /** Its run has not ended. */
  goesOn: boolean;
}

export async function lookUp({ client }: Session, target: TargetResult): Promise<FoundTarget> {
  const isSeen = target.endedAt !== null && target.outcome !== 'unknown';
  if (isSeen || target.workflowId === null) return { target, goesOn: false };
  const handle = client.workflow.getHandle(target.workflowId);
  try {
    const described = await describeRun(handle);
    if (described.status.name === 'RUNNING') return { target, goesOn: true };
    const { outcome, backup, deployments, error, endedAt } = await closedResult(handle, knownOf(described));
    const ended = new Map(deployments.map((it) => [it.siteId, it.outcome]));
    const known = target.deployments.map((it) => ({ ...it, outcome: ended.get(it.siteId) ?? it.outcome }));
    const found = { outcome, backup: backup?.outcome ?? null, deployments: known, error, endedAt };
    return { target: { ...target, ...found }, goesOn: false };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { target, goesOn: false };
    throw error;
  }
}
