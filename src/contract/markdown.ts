/** Writes Markdown for the Temporal UI and for the pages of CI jobs. Text from outside comes in code spans. Pure. */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { codeSpan, plainText } from './safe-text.ts';
import type { Evidence } from './names.ts';

/** The UI sets no space between the columns of a table, and shows this character as it is. */
const GAP = '\u2002\u2002';

type Cells = readonly string[];

export function tableRows(names: Cells, rows: readonly Cells[]): string[] {
  const line = (cells: Cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(names), line(names.map(() => '---')), ...rows.map(line)];
}

/** Adds space between the columns. */
export function uiTable(names: Cells, rows: readonly Cells[]): string {
  const spaced = (cells: Cells) => cells.map((cell) => cell + GAP);
  return tableRows(spaced(names), rows.map(spaced)).join('\n');
}

/** Lists named facts, without those that are null. @param notes names and values from outside */
export function factList(facts: Record<string, string | null>, notes: Record<string, string> = {}): string {
  const known = Object.entries(facts).flatMap(([name, fact]) => (fact === null ? [] : [`- **${name}**: ${fact}`]));
  return [...known, ...Object.entries(notes).map(([name, note]) => `- ${codeSpan(name)}: ${codeSpan(note)}`)].join(
    '\n',
  );
}

/** In the UI of the embedded server, the frame of a page hides its last line. */
const ROOM = '\u2002';

/** Joins parts with blank lines between them. Parts that are null or empty are left out. */
export const uiPage = (...parts: (string | null)[]): string => [...parts, ROOM].filter(Boolean).join('\n\n');

/** Temporal rejects details over 20,000 bytes, and encryption makes them a little larger. */
const MAX_DETAILS_BYTES = 16_000;

/** The page that a workflow shows from its start: as `uiPage`, and lines beyond the limit are cut off. */
export function detailsPage(...parts: (string | null)[]): string {
  const page: string[] = [];
  let bytes = 0;
  for (const line of uiPage(...parts).split('\n')) {
    bytes += utf8ToBytes(line).length + 1;
    if (bytes > MAX_DETAILS_BYTES) return [...page, '', '…'].join('\n');
    page.push(line);
  }
  return page.join('\n');
}

/** Shows only the first entries, so that one long list does not fill the page. */
export function listStart(entries: readonly string[], limit = 20): string {
  const hidden = entries.length - limit;
  return `${entries.slice(0, limit).join(', ')}${hidden > 0 ? `, and ${hidden} more` : ''}`;
}

/** A URL may contain parentheses, which would end the link. */
export const linkTarget = (url: string): string =>
  plainText(url, 2_000).replace(/[()<>\s]/g, (it) => `%${it.charCodeAt(0).toString(16)}`);

/**
 * Links to the page of a workflow. The UI replaces the namespace, and a path without a leading slash also works where
 * the UI is not served at the root of its host.
 *
 * @param options.runId default: the latest execution; options.label Markdown, default: the id
 */
export function workflowLink(workflowId: string, options: { runId?: string; label?: string } = {}): string {
  const { runId, label = codeSpan(workflowId) } = options;
  return link(label, `/${[workflowId, ...(runId === undefined ? [] : [runId])].map(encoded).join('/')}`);
}

/** Links to everything that ever ran under an id. */
export const historyLink = (workflowId: string): string =>
  link(codeSpan(workflowId), `?query=${encoded(`WorkflowId="${workflowId.replaceAll('"', '\\"')}"`)}`);

/** The UI takes a bracket in a code span for the end of the label. */
const link = (label: string, path: string): string =>
  /[[\]]/.test(label) ? label : `[${label}](namespaces/{namespace}/workflows${path})`;

const encoded = (text: string): string => linkTarget(encodeURIComponent(text));

const EVIDENCE_TEXTS: Record<Evidence, string> = {
  identity: 'the service identifies the deployment as the one that was requested',
  transition: 'it was seen in progress after the request',
  changed: 'the final status differs from the one before the request',
  settled: 'the final status is the one from before the request, and stayed so for the settle time',
};

/** Explains each kind of evidence that occurs. Null if there is none. */
export function evidenceLegend(found: readonly (Evidence | null)[]): string | null {
  const kinds = [...new Set(found)].filter((it) => it !== null);
  if (kinds.length === 0) return null;
  return `Evidence that the status is that of this deployment: ${kinds.map((it) => `**${it}**, ${EVIDENCE_TEXTS[it]}`).join('; ')}.`;
}
