/** What a kind of evidence means, for people. Pure. */
import type { Evidence } from './names.ts';

const EVIDENCE_TEXTS: Record<Evidence, string> = {
  identity: 'the service identifies the deployment as the one that was requested',
  transition: 'it was seen in progress after the request',
  changed: 'the final status differs from the one before the request',
  settled: 'the final status is the one from before the request, and stayed so for the settle time',
};

/** One line for each kind that occurs; null without any. */
export function evidenceLegend(found: readonly (Evidence | null)[]): string | null {
  const kinds = [...new Set(found)].filter((it) => it !== null);
  if (kinds.length === 0) return null;
  return `Evidence that the status is that of this deployment: ${kinds.map((it) => `**${it}**, ${EVIDENCE_TEXTS[it]}`).join('; ')}.`;
}
