/**
 * Lists every kind of event with the words that senders use for it, and Belay's reactions. In belay.yaml,
 * `events.kinds` adds words, and `events.reactions` replaces reactions. The service does not document its own words.
 */
import { z } from 'zod';
import { headerName, path, secretPlace } from '../../config/file/request-schema.ts';
import { duration, firstRepeated, name, wholeNumber } from '../../config/file/schema-values.ts';
import { LIMITS } from '../../request/limits.ts';
import { normalizeStatus } from '../../rules/status-words.ts';
import { EVENT_KINDS, type EventKind, type Reaction } from './shapes.ts';

/** Matches the words in a name such as `server.backup_failed`, `BackupFailed` or `ALERT-FIRING`. */
export interface LikelyWords {
  all: readonly RegExp[];
  /** No word may match this: a failed restore is not a failed backup. */
  none?: RegExp;
  /** Every word has to match this: a deleted backup, user or key is not a deleted server or site. */
  only?: RegExp;
}

interface EventKindRow<Allowed extends readonly Reaction[]> {
  /** Null for the row that takes what no other row matches. */
  likely: LikelyWords | null;
  allowed: Allowed;
  /** The reactions if belay.yaml chooses none. */
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

/* The section `events` of belay.yaml. */

const idHeader = headerName.describe("The header that holds a delivery's id.");
const secrets = z.array(secretPlace).min(1, { error: 'name at least one secret' });

const common = {
  maxPerMinute: wholeNumber(LIMITS.eventsPerMinute)
    .describe('How many deliveries a minute become events; default 1200. Others are answered with 429.')
    .optional(),
  fields: z
    .strictObject({
      id: path.optional(),
      kind: path.optional(),
      server: path.optional(),
      site: path.optional(),
      backup: path.optional(),
      time: path.optional(),
    })
    .describe('Paths of the fields in the body. For a field without a path, Belay tries likely names.')
    .optional(),
  kinds: z
    .partialRecord(z.enum(EVENT_KINDS), z.array(z.string().trim().min(1)).min(1))
    .superRefine((kinds, context) => {
      const words = Object.entries(kinds).flatMap(([kind, all]) =>
        all.map((word, index) => ({ word, path: [kind, index] })),
      );
      const duplicate = words[firstRepeated(words.map(({ word }) => normalizeStatus(word)))];
      const message = 'duplicate word: remove one';
      if (duplicate !== undefined) context.addIssue({ code: 'custom', message, path: duplicate.path });
    })
    .describe("The sender's words for each kind. Belay also knows likely ones.")
    .optional(),
};

const source = z.discriminatedUnion(
  'verify',
  [
    z.strictObject({ verify: z.literal('standard-webhooks'), secrets, ...common }),
    z.strictObject({
      verify: z.literal('hmac-sha256'),
      secrets,
      header: headerName.describe('The header that holds the HMAC-SHA256 of the body.'),
      prefix: z.string().describe('Text before the HMAC in that header, such as sha256=.').optional(),
      encoding: z.enum(['hex', 'base64']).describe('Default hex.').optional(),
      idHeader: idHeader.optional(),
      ...common,
    }),
    z.strictObject({ verify: z.literal('none'), idHeader: idHeader.optional(), ...common }),
  ],
  { error: 'write verify: standard-webhooks, hmac-sha256 or none' },
);

type ReactionsTo<K extends EventKind> = z.ZodType<(typeof EVENT_KIND_TABLE)[K]['allowed'][number][] | undefined>;
const reactions = z.strictObject(
  Object.fromEntries(
    EVENT_KINDS.map((kind) => [kind, z.array(z.enum(EVENT_KIND_TABLE[kind].allowed)).optional()]),
  ) as unknown as { [K in EventKind]: z.ZodOptional<ReactionsTo<K>> },
);

export const events = z.strictObject({
  sources: z
    .record(name, source)
    .describe('Senders of webhooks. The name is the last part of POST /webhooks/<source>.')
    .optional(),
  freshFor: duration(LIMITS.freshForMs).describe('Older events wake and hold nothing; default 15m.').optional(),
  reactions: reactions.describe('What an event of each kind causes, besides earlier reads.').optional(),
});

export type SourceConfig = z.infer<typeof source>;
