/** Links into the Temporal UI. */
import type { Session } from './session.ts';

export interface Links {
  /** The page in the Temporal UI. Null if the address of the UI is not known. */
  ui: string | null;
}

export interface Linked {
  workflowId: string | null;
  runId: string | null;
  links: Links;
}

export const linksOf = (
  session: Pick<Session, 'uiUrl' | 'namespace'>,
  { workflowId, runId }: Pick<Linked, 'workflowId' | 'runId'>,
): Links => withLink(session, { workflowId, runId, links: { ui: null } }).links;

/**
 * Adds the link in the client, because a workflow does not know the address of the UI. The link leads to the page with
 * the summary and details.
 */
export function withLink<R extends Linked>({ uiUrl, namespace }: Pick<Session, 'uiUrl' | 'namespace'>, result: R): R {
  if (uiUrl === null || result.workflowId === null) return result;
  const [workflowId, runId] = [result.workflowId, result.runId ?? ''].map(encodeURIComponent);
  const path = `/namespaces/${encodeURIComponent(namespace)}/workflows/${workflowId}/${runId}/user-metadata`;
  return { ...result, links: { ui: uiUrl + path } };
}
