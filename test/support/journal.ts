/** Queries of the sandbox's journal. */
import type { Controls } from '../../src/sandbox/controls.ts';
import type { JournalEntry } from '../../src/sandbox/state.ts';

type Journaled = Pick<Controls, 'journal'>;

/** Our requests that began an operation. */
export function began(sandbox: Journaled, kind: 'backup' | 'deployment', target: string): JournalEntry[] {
  return sandbox.journal.filter(
    (entry) => entry.by === 'api' && entry.began?.kind === kind && entry.began.target === target,
  );
}

/** The status reads of a path. */
export function reads(sandbox: Journaled, path: string): JournalEntry[] {
  return sandbox.journal.filter(({ request }) => request === `GET ${path}`);
}

/** The POSTs to a path, whatever their result. */
export function posts(sandbox: Journaled, path: string): JournalEntry[] {
  return sandbox.journal.filter(({ request }) => request === `POST ${path}`);
}
