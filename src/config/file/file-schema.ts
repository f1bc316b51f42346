/** What belay.yaml may hold. Its published form, docs/belay.schema.json, is made of this. */
import { parsePath } from 'dot-prop';
import { z } from 'zod';
import { EVENT_KINDS } from '../../contract/event.ts';
import { fleets, rollouts, schedules } from './fleet-schema.ts';
import { wordKey } from '../../contract/wording/safe-text.ts';
import { firstRepeated, name } from './schema-values.ts';

const finalWords = z.record(z.string(), z.enum(['completed', 'failed'])).superRefine((words, context) => {
  const keys = Object.keys(words).map(wordKey);
  for (const [index, word] of Object.keys(words).entries()) {
    const mistake = (message: string) => context.addIssue({ code: 'custom', message, path: [word] });
    const key = wordKey(word);
    if (key === '') mistake('write the word of the service');
    else if (['completed', 'failed'].includes(key)) mistake('it is final already: take it out');
    else if (keys.indexOf(key) < index) mistake('it stands there twice, case and blanks do not count: keep one');
  }
});

const header = z.string().regex(/^[\w-]{1,100}$/, { error: 'write the name of an HTTP header' });
const idHeader = header.describe("The header that holds a delivery's id.");
const path = z
  .string()
  .trim()
  .min(1)
  .refine(isPath, { error: 'write a path of keys like data.server.id or items[0].id' });

/** Never the secret itself: where it is. */
const secret = z.union(
  [z.strictObject({ env: z.string().trim().min(1) }), z.strictObject({ file: z.string().trim().min(1) })],
  { error: 'a secret or address stands in a file or variable: write { file: PATH } or { env: NAME }' },
);
const secrets = z.array(secret).min(1, { error: 'name at least one secret' });

const meaning = {
  fields: z
    .strictObject({
      id: path.optional(),
      kind: path.optional(),
      server: path.optional(),
      site: path.optional(),
      backup: path.optional(),
      time: path.optional(),
    })
    .describe('Where in a body what stands, as paths of keys. Without one likely names are tried.')
    .optional(),
  kinds: z
    .partialRecord(z.enum(EVENT_KINDS), z.array(z.string().trim().min(1)).min(1))
    .superRefine((kinds, context) => {
      const words = Object.entries(kinds).flatMap(([kind, all]) =>
        all.map((word, index) => ({ word, path: [kind, index] })),
      );
      const again = words[firstRepeated(words.map(({ word }) => wordKey(word)))];
      const message = 'this word stands there twice: keep one';
      if (again !== undefined) context.addIssue({ code: 'custom', message, path: again.path });
    })
    .describe("The sender's words for a kind. Likely ones are known without.")
    .optional(),
};

const source = z.discriminatedUnion(
  'verify',
  [
    z.strictObject({ verify: z.literal('standard-webhooks'), secrets, ...meaning }),
    z.strictObject({
      verify: z.literal('hmac-sha256'),
      secrets,
      header: header.describe('The header that holds the HMAC-SHA256 of the body.'),
      prefix: z.string().describe('What stands before it there, such as sha256=.').optional(),
      encoding: z.enum(['hex', 'base64']).describe('Default hex.').optional(),
      idHeader: idHeader.optional(),
      ...meaning,
    }),
    z.strictObject({ verify: z.literal('none'), idHeader: idHeader.optional(), ...meaning }),
  ],
  { error: 'write verify: standard-webhooks, hmac-sha256 or none' },
);

const reactions = z.strictObject({
  'alert.fired': z.array(z.enum(['hold', 'notify'])).optional(),
  'backup.started': z.array(z.enum(['share', 'notify'])).optional(),
  'backup.failed': z.array(z.enum(['end-wait', 'notify'])).optional(),
  'resource.deleted': z.array(z.enum(['end-wait', 'hold', 'notify'])).optional(),
  unknown: z.array(z.enum(['notify'])).optional(),
});

export const configurationSchema = z
  .strictObject({
    statuses: z
      .strictObject({ deployment: finalWords.optional(), backup: finalWords.optional() })
      .describe('Words of the service that are final beside completed and failed, and what they mean.')
      .optional(),
    events: z
      .strictObject({
        sources: z.record(name, source).describe('Senders, by the last part of POST /webhooks/<source>.').optional(),
        reactions: reactions.describe('What is done with an event of a kind, beside the reads it hints at.').optional(),
      })
      .optional(),
    notify: z
      .strictObject({
        on: z
          .enum(['failed', 'all'])
          .describe('Which ends of runs are told: failed, the default, is every end but completed.')
          .optional(),
        targets: z.record(name, secret).describe('Addresses that are told, by names of yours.').optional(),
        heartbeats: z.record(name, secret).describe('Addresses for --heartbeat, by names of yours.').optional(),
      })
      .optional(),
    fleets: fleets.describe('Which sites belong to which server.').optional(),
    rollouts: rollouts.describe('How a fleet is backed up and deployed.').optional(),
    schedules: schedules.describe('What is started by itself, and when.').optional(),
  })
  .meta({ title: 'belay.yaml', description: 'Configuration of Belay; docs/configuration.md shows all of it.' });

export type Configuration = z.infer<typeof configurationSchema>;
export type SourceConfig = z.infer<typeof source>;
export type ReactionConfig = z.infer<typeof reactions>;

function isPath(text: string): boolean {
  try {
    return parsePath(text).length > 0;
  } catch {
    return false;
  }
}
