/** The details that a workflow's page in the Temporal UI shows from its start on. Pure. */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { uiPage } from '../contract/markdown.ts';

/** Temporal rejects details over 20,000 bytes. Encrypted ones are a little larger. */
const MAX_BYTES = 16_000;

/** Parts with blank lines between them. Those that are null are left out, and lines over the limit are cut off. */
export function detailsPage(...parts: (string | null)[]): string {
  const page: string[] = [];
  let bytes = 0;
  for (const line of uiPage(...parts).split('\n')) {
    bytes += utf8ToBytes(line).length + 1;
    if (bytes > MAX_BYTES) return [...page, '', '…'].join('\n');
    page.push(line);
  }
  return page.join('\n');
}

/** The first of them, so that one long list does not fill the page. */
export function firstOf(entries: readonly string[], limit = 20): string {
  const hidden = entries.length - limit;
  return `${entries.slice(0, limit).join(', ')}${hidden > 0 ? `, and ${hidden} more` : ''}`;
}
