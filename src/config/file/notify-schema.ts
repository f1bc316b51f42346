/** Whom belay.yaml notifies. The addresses are secrets, so it names their places. */
import { z } from 'zod';
import { name } from './schema-values.ts';
import { secretPlace } from './secret-schema.ts';

const place = z.string().trim().min(1);
const PLACES = [{ env: place }, { file: place }] as const;
const isPlace = { error: 'do not write a secret or address here: write { file: PATH } or { env: NAME }' };

const CHAT_KINDS = ['slack', 'teams', 'discord'] as const;

const chat = z
  .enum(CHAT_KINDS)
  .describe('What listens there: Slack, a workflow of Teams, or a webhook of Discord; default slack.')
  .optional();
const webhook = z.literal('webhook');
const secret = secretPlace.describe('Of Standard Webhooks, whsec_ and base64: every message is signed with it.');

const channel = z.union(
  [
    ...PLACES.map((it) => z.strictObject({ kind: chat, ...it })),
    ...PLACES.map((it) => z.strictObject({ kind: webhook, ...it, secret })),
  ],
  {
    error: ({ input }) =>
      isRecordWithKind(input) ? 'write kind: slack, teams, discord, or webhook with secret:' : isPlace.error,
  },
);

const isRecordWithKind = (input: unknown): boolean => typeof input === 'object' && input !== null && 'kind' in input;

export const notify = z.strictObject({
  on: z
    .enum(['failed', 'all'])
    .describe('Which runs to report: all, or failed (default), which means every outcome except completed.')
    .optional(),
  targets: z.record(name, channel).describe('Addresses that get the notifications, by names you choose.').optional(),
  heartbeats: z.record(name, secretPlace).describe('Addresses for --heartbeat, by names you choose.').optional(),
});
