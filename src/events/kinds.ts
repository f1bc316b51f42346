/** What a sender's word for an event means. The service's words are not documented, so likely ones are known. Pure. */
import type { EventKind } from '../event-contract.ts';

/** Words of the sender, by the kind they mean. */
export type KindWords = Partial<Record<EventKind, readonly string[]>>;

/** By the words in it, the first match: `server.backup_failed`, `BackupFailed`, `ALERT-FIRING`. */
const LIKELY: [kind: EventKind, all: RegExp[]][] = [
  ['resource.deleted', [/^(deleted|deletion|removed|destroyed)$/]],
  ['backup.failed', [/^backups?$/, /^(failed|failure|fails|error|errored)$/]],
  ['backup.started', [/^backups?$/, /^(started|created|triggered|initiated|begun|queued)$/]],
  ['alert.fired', [/^(alert|alerts|alarm)$/, /^(fired|fires|firing|triggered|raised|opened|created)$/]],
];

export function kindOf(said: string | null, words: KindWords = {}): EventKind {
  if (said === null) return 'unknown';
  const plain = said.trim().toLowerCase();
  const configured = Object.entries(words) as [EventKind, readonly string[]][];
  const named = configured.find(([, list]) => list.some((word) => word.trim().toLowerCase() === plain));
  if (named !== undefined) return named[0];
  const parts = said
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/);
  return LIKELY.find(([, all]) => all.every((word) => parts.some((part) => word.test(part))))?.[0] ?? 'unknown';
}
