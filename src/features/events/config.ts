/**
 * Every kind of event: the words that senders use for it, and what Belay does about it. In belay.yaml `events.kinds`
 * adds words, and `events.reactions` replaces reactions. The service's own words are not documented.
 */
import type { EventKind, Reaction } from './shapes.ts';

/** Matches the words in a name such as `server.backup_failed`, `BackupFailed` or `ALERT-FIRING`. */
export interface LikelyWords {
  all: readonly RegExp[];
  /** None of these may occur: a failed restore is not a failed backup. */
  none?: RegExp;
  /** Every word must match: a deleted backup, user or key is not a deleted server or site. */
  only?: RegExp;
}

interface EventKindRow<Allowed extends readonly Reaction[]> {
  /** Null for what no other row matches. */
  likely: LikelyWords | null;
  /** The reactions that belay.yaml may choose from. */
  allowed: Allowed;
  /** The reactions without a choice in belay.yaml. */
  reactions: readonly NoInfer<Allowed>[number][];
}

const row = <const Allowed extends readonly Reaction[]>(it: EventKindRow<Allowed>) => it;

const ENDS_BADLY = /^(failed|failure|fails|error|errored)$/;
const DELETED = /^(deleted|deletion|removed|destroyed)$/;

/** The first row whose words match decides. */
export const EVENT_KIND_TABLE = {
  'resource.deleted': row({
    likely: {
      all: [DELETED],
      only: new RegExp(`${DELETED.source}|^(servers?|sites?|resources?|external|externally|detected|was)$`),
    },
    allowed: ['end-wait', 'hold', 'notify'],
    reactions: ['end-wait', 'hold', 'notify'],
  }),
  'backup.failed': row({
    likely: { all: [/^backups?$/, ENDS_BADLY], none: /^(delet|remov|destroy|restor|resolv|recover|not$)/ },
    allowed: ['end-wait', 'notify'],
    reactions: ['end-wait', 'notify'],
  }),
  'backup.started': row({
    likely: {
      all: [/^backups?$/, /^(started|created|triggered|initiated|begun|queued)$/],
      none: /^(delet|remov|restor|schedule)/,
    },
    allowed: ['share', 'notify'],
    reactions: ['share'],
  }),
  'alert.fired': row({
    likely: {
      all: [/^(alert|alerts|alarm)$/, /^(fired|fires|firing|triggered|raised|opened|created)$/],
      none: /^(resolved|recovered|cleared|closed|acknowledged|not|rules?|polic(y|ies))$/,
    },
    allowed: ['hold', 'notify'],
    reactions: ['hold', 'notify'],
  }),
  unknown: row({ likely: null, allowed: ['notify'], reactions: [] }),
} satisfies Record<EventKind, EventKindRow<readonly Reaction[]>>;
