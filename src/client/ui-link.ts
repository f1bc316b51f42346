/** Links into the Temporal UI. */
import type { Session } from './session.ts';

export interface Links {
  /** Its page in the Temporal UI; null if the address of the UI is not known. */
  ui: string | null;
}

export interface Linked {
  workflowId: string | null;
  runId: string | null;
  links: Links;
}

/** Those of a run or rollout by its ids. */
export const linksOf = (
  session: Pick<Session, 'uiUrl' | 'namespace'>,
  { workflowId, runId }: Pick<Linked, 'workflowId' | 'runId'>,
): Links => withLink(session, { workflowId, runId, links: { ui: null } }).links;

/** A workflow does not know the UI's address, so the client adds the link. It leads to the page of the summary and details. */
export function withLink<R extends Linked>({ uiUrl, namespace }: Pick<Session, 'uiUrl' | 'namespace'>, result: R): R {
  if (uiUrl === null || result.workflowId === null) return result;
  const [workflowId, runId] = [result.workflowId, result.runId ?? ''].map(encodeURIComponent);
  const path = `/namespaces/${encodeURIComponent(namespace)}/workflows/${workflowId}/${runId}/user-metadata`;
  return { ...result, links: { ui: uiUrl + path } };
}
