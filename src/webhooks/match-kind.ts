/** What a sender's word for an event means. The service's words are not documented, so likely ones are known. Pure. */
import type { EventKind } from '../contract/event.ts';
import { wordKey } from '../contract/wording/safe-text.ts';

/** Words of the sender, by the kind they mean. */
export type KindWords = Partial<Record<EventKind, readonly string[]>>;

/** By the words in it: `server.backup_failed`, `BackupFailed`, `ALERT-FIRING`. */
interface Likely {
  kind: EventKind;
  all: RegExp[];
  /** With one of these it is about something else: a restore that failed is no failed backup. */
  none?: RegExp;
  /** Every word is one of these: a backup, user or key that was deleted is no server or site. */
  only?: RegExp;
}

const ENDS_BADLY = /^(failed|failure|fails|error|errored)$/;
const DELETED = /^(deleted|deletion|removed|destroyed)$/;
const LIKELY: Likely[] = [
  {
    kind: 'resource.deleted',
    all: [DELETED],
    only: new RegExp(`${DELETED.source}|^(servers?|sites?|resources?|external|externally|detected|was)$`),
  },
  { kind: 'backup.failed', all: [/^backups?$/, ENDS_BADLY], none: /^(delet|remov|destroy|restor|resolv|recover|not$)/ },
  {
    kind: 'backup.started',
    all: [/^backups?$/, /^(started|created|triggered|initiated|begun|queued)$/],
    none: /^(delet|remov|restor|schedule)/,
  },
  {
    kind: 'alert.fired',
    all: [/^(alert|alerts|alarm)$/, /^(fired|fires|firing|triggered|raised|opened|created)$/],
    none: /^(resolved|recovered|cleared|closed|acknowledged|not|rules?|polic(y|ies))$/,
  },
];

const MAX_LENGTH = 200;

export function kindOf(said: string | null, words: KindWords = {}): EventKind {
  if (said === null) return 'unknown';
  const plain = wordKey(said);
  const configured = Object.entries(words) as [EventKind, readonly string[]][];
  const named = configured.find(([, list]) => list.some((word) => wordKey(word) === plain));
  if (named !== undefined) return named[0];
  const parts = said
    .slice(0, MAX_LENGTH)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((part) => part !== '');
  const has = (word: RegExp) => parts.some((part) => word.test(part));
  const isMeant = ({ all, none, only }: Likely) =>
    all.every(has) && (none === undefined || !has(none)) && parts.every((part) => only?.test(part) ?? true);
  return LIKELY.find(isMeant)?.kind ?? 'unknown';
}
