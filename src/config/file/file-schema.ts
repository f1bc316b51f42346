/** The schema of belay.yaml. docs/belay.schema.json is generated from it. */
import { z } from 'zod';
import { checkServiceIdentity } from '../environment/service-url.ts';
import { SECTIONS } from '../features.ts';
import { normalizeStatus } from '../../rules/status-words.ts';
import { messageOf } from '../../contract/safe-text.ts';
import { path } from './request-schema.ts';

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

/** Added to the service's base URL, as the paths of sites are. */
const appPath = z
  .string()
  .regex(/^\/(?!\/)[^?#\\\s{}]*\{id\}[^?#\\\s{}]*$/, {
    error: 'write a path like /v1/apps/{id}/deploy: without a host or query, and with {id} once',
  })
  .refine((text) => !text.split('/').some((part) => part === '.' || part === '..'), {
    error: 'write a path without . and ..',
  });

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
      .describe(
        'Base URLs that the same service had before it moved. Runs and schedules that were recorded for them continue.',
      )
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
    ...SECTIONS,
  })
  .meta({ title: 'belay.yaml', description: 'Configuration of Belay; docs/reference/belay-yaml.md lists every key.' });

export type Configuration = z.infer<typeof configurationSchema>;
