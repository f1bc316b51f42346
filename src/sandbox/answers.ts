/** What the answers about deployments show beyond the documented fields, and which replica gives them. Pure. */

export interface Answers {
  /** The fields of the latest answer: the id of its deployment, or one that never changes. */
  latest?: Partial<Record<'id' | 'uuid', 'own' | 'constant'>>;
  /** The id in the answer to a request: that of its deployment, of the one before, or of a job that `latest` never shows. */
  trigger?: 'own' | 'previous' | 'job';
  /** Every n-th read is answered by a replica that is this far behind. */
  replica?: { every: number; lagMs: number };
}

export const latestIds = ({ latest = {} }: Answers, id: string): Record<string, string> =>
  Object.fromEntries(Object.entries(latest).map(([field, kind]) => [field, kind === 'own' ? id : 'constant']));

/** @param previous the id of the deployment before; null if there is none */
export function triggerIds({ trigger }: Answers, id: string, previous: string | null): Record<string, string> {
  if (trigger === undefined || (trigger === 'previous' && previous === null)) return {};
  return { id: trigger === 'own' ? id : trigger === 'job' ? `job-${id}` : previous! };
}
