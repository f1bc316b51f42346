/** Links into the Temporal UI. */
import type { Session } from './session.ts';

export interface Linked {
  workflowId: string | null;
  runId: string | null;
  links: { ui: string | null };
}

/** A workflow does not know the UI's address, so the client adds the link. It leads to the page of the summary and details. */
export function withLink<R extends Linked>({ uiUrl, namespace }: Pick<Session, 'uiUrl' | 'namespace'>, result: R): R {
  if (uiUrl === null || result.workflowId === null) return result;
  const [workflowId, runId] = [result.workflowId, result.runId ?? ''].map(encodeURIComponent);
  const path = `/namespaces/${encodeURIComponent(namespace)}/workflows/${workflowId}/${runId}/user-metadata`;
  return { ...result, links: { ui: uiUrl + path } };
}
