/** The schema of belay.yaml. docs/belay.schema.json is generated from it. */
import { z } from 'zod';
import { checkServiceIdentity } from '../environment/service-url.ts';
import { EVENT_KINDS, type EventKind } from '../../features/events/shapes.ts';
import { EVENT_KIND_TABLE } from '../../features/events/config.ts';
import { approvalsSection } from '../../features/approvals/config.ts';
import { checks, sites } from '../../features/site-checks/config.ts';
import { freezesSection, windows } from '../../features/freezes/config.ts';
import { gates } from '../../features/gates/config.ts';
import { fleets, rollouts, schedules } from '../../features/rollouts/config.ts';
import { normalizeStatus } from '../../rules/status-words.ts';
import { messageOf } from '../../contract/safe-text.ts';
import { duration, firstRepeated, name, wholeNumber } from './schema-values.ts';
import { notify } from '../../features/notifications/config.ts';
import { headerName, path, secretPlace } from './request-schema.ts';
import { LIMITS } from '../../request/limits.ts';

const finalWords = z.record(z.string(), z.enum(['completed', 'failed'])).superRefine((words, context) => {
  const keys = Object.keys(words).map(normalizeStatus);
  for (const [index, word] of Object.keys(words).entries()) {
    const report = (message: string) => context.addIssue({ code: 'custom', message, path: [word] });
    const key = normalizeStatus(word);
    if (key === '') report('write a status word of the service');
    else if (['completed', 'failed'].includes(key)) report('this word is always final: remove it');
    else if (keys.indexOf(key) < index)
      report('duplicate word, as case and surrounding spaces are ignored: remove one');
  }
});

const idHeader = headerName.describe("The header that holds a delivery's id.");
/** Added to the service's base URL, as the paths of sites are. */
const appPath = z
  .string()
  .regex(/^\/(?!\/)[^?#\\\s{}]*\{id\}[^?#\\\s{}]*$/, {
    error: 'write a path like /v1/apps/{id}/deploy: without a host or query, and with {id} once',
  })
  .refine((text) => !text.split('/').some((part) => part === '.' || part === '..'), {
    error: 'write a path without . and ..',
  });

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

const service = z.string().transform((text, context) => {
  try {
    return checkServiceIdentity('the address', text, null);
  } catch (error) {
    context.addIssue(messageOf(error));
    return z.NEVER;
  }
});

export const configurationSchema = z
  .strictObject({
    service: service
      .describe('Base URL of the service that everything in this file is for. --service and BELAY_SERVICE override it.')
      .optional(),
    formerly: z
      .array(service)
      .describe('Base URLs that the same service had before it moved. What was recorded for them goes on.')
      .optional(),
    api: z
      .strictObject({
        app: z
          .strictObject({
            deploy: appPath.describe('Path of the POST that deploys an app.'),
            latest: appPath.describe("Path of the GET that returns the status of an app's latest deployment."),
          })
          .describe('Paths of apps, which the service does not document. Without them, apps are not deployed.')
          .optional(),
      })
      .describe('Endpoints of the service.')
      .optional(),
    statuses: z
      .strictObject({ deployment: finalWords.optional(), backup: finalWords.optional() })
      .describe('Status words that are final, besides completed and failed, and which of the two each one means.')
      .optional(),
    deploymentId: path
      .describe(
        "Path of the field that has a deployment's id, in the answers to the request and to reads, such as data.id; none if " +
          'no field has it. Without it, Belay tries likely names.',
      )
      .optional(),
    events: z
      .strictObject({
        sources: z
          .record(name, source)
          .describe('Senders of webhooks. The name is the last part of POST /webhooks/<source>.')
          .optional(),
        freshFor: duration(LIMITS.freshForMs).describe('Older events wake and hold nothing; default 15m.').optional(),
        reactions: reactions.describe('What an event of each kind causes, besides earlier reads.').optional(),
      })
      .optional(),
    notify: notify.optional(),
    fleets: fleets.describe('Which sites belong to which server. Workers hold every run to it.').optional(),
    inventory: z
      .literal('strict', { error: 'write strict, or remove it' })
      .describe('strict: workers refuse every server, site and app that no fleet has.')
      .optional(),
    rollouts: rollouts.describe('How a fleet is backed up and deployed.').optional(),
    sites: sites
      .describe('What is known of sites, by their ids: where they answer, and how they are checked.')
      .optional(),
    checks: checks.describe('What a site has to do after its deployment, by names you choose.').optional(),
    freezes: freezesSection.describe('When nothing is deployed.').optional(),
    windows: windows.describe('When deployments may begin, and at no other time.').optional(),
    approvals: approvalsSection.describe('Who has to approve a deployment before it begins.').optional(),
    gates: gates.describe('What is measured between the waves of a rollout, by names you choose.').optional(),
    schedules: schedules.describe('What to start automatically, and when.').optional(),
  })
  .meta({ title: 'belay.yaml', description: 'Configuration of Belay; docs/reference/belay-yaml.md lists every key.' });

export type Configuration = z.infer<typeof configurationSchema>;
export type SourceConfig = z.infer<typeof source>;
export type ReactionConfig = z.infer<typeof reactions>;
