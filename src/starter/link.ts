/** Links into the Temporal UI. */
import type { RunResult } from '../contract.ts';
import type { Session } from './session.ts';

/** The workflow doesn't know where people reach the UI. */
export function withLink({ uiUrl, namespace }: Pick<Session, 'uiUrl' | 'namespace'>, result: RunResult): RunResult {
  if (uiUrl === null || result.workflowId === null) return result;
  const [workflowId, runId] = [result.workflowId, result.runId ?? ''].map(encodeURIComponent);
  const path = `/namespaces/${encodeURIComponent(namespace)}/workflows/${workflowId}/${runId}/history`;
  return { ...result, links: { ui: uiUrl + path } };
}
