/** Questions to the sandbox's journal. */
import type { Sandbox } from '../../src/sandbox/server.ts';
import type { JournalEntry } from '../../src/sandbox/hosting/state.ts';

/** The requests of ours that began something. */
export function began(sandbox: Sandbox, kind: 'backup' | 'deployment', target: string): JournalEntry[] {
  return sandbox.journal.filter(
    (entry) => entry.by === 'api' && entry.began?.kind === kind && entry.began.target === target,
  );
}

/** The status reads of a path. */
export function reads(sandbox: Sandbox, path: string): JournalEntry[] {
  return sandbox.journal.filter(({ request }) => request === `GET ${path}`);
}

/** The POSTs to a path, whatever became of them. */
export function posts(sandbox: Sandbox, path: string): JournalEntry[] {
  return sandbox.journal.filter(({ request }) => request === `POST ${path}`);
}
