/** What a sender's word for an event means. The service's words are not documented, so likely ones are known. Pure. */
import type { EventKind } from '../event-contract.ts';

/** Words of the sender, by the kind they mean. */
export type KindWords = Partial<Record<EventKind, readonly string[]>>;

/** By the words in it: `server.backup_failed`, `BackupFailed`, `ALERT-FIRING`. */
interface Likely {
  kind: EventKind;
  all: RegExp[];
  /** With one of these it is about something else: a restore that failed is no failed backup. */
  none?: RegExp;
}

const ENDS_BADLY = /^(failed|failure|fails|error|errored)$/;
const LIKELY: Likely[] = [
  { kind: 'resource.deleted', all: [/^(deleted|deletion|removed|destroyed)$/], none: ENDS_BADLY },
  { kind: 'backup.failed', all: [/^backups?$/, ENDS_BADLY], none: /^(delet|remov|destroy|restor)/ },
  {
    kind: 'backup.started',
    all: [/^backups?$/, /^(started|created|triggered|initiated|begun|queued)$/],
    none: /^(delet|remov|restor|schedule)/,
  },
  { kind: 'alert.fired', all: [/^(alert|alerts|alarm)$/, /^(fired|fires|firing|triggered|raised|opened|created)$/] },
];

const MAX_LENGTH = 200;

export function kindOf(said: string | null, words: KindWords = {}): EventKind {
  if (said === null) return 'unknown';
  const plain = said.trim().toLowerCase();
  const configured = Object.entries(words) as [EventKind, readonly string[]][];
  const named = configured.find(([, list]) => list.some((word) => word.trim().toLowerCase() === plain));
  if (named !== undefined) return named[0];
  const parts = said
    .slice(0, MAX_LENGTH)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/);
  const has = (word: RegExp) => parts.some((part) => word.test(part));
  return LIKELY.find(({ all, none }) => all.every(has) && (none === undefined || !has(none)))?.kind ?? 'unknown';
}
