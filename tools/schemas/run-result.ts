/** What a run answers, as a schema. Open: fields are only ever added, so a reader ignores those it doesn't know. */
import { z } from 'zod';
import { EVIDENCE, OUTCOMES, SCHEMA_VERSION, type RunResult } from '../../src/contract/run.ts';
import type { Assert, Same } from './tie.ts';

export const count = (description: string) => z.int().min(0).meta({ description });
export const text = (description: string) => z.string().nullable().meta({ description });
export const time = (what: string) =>
  z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    .meta({ format: 'date-time' })
    .nullable()
    .meta({ description: `${what}: ISO 8601, UTC. Null where it isn't known, or not yet.` });

export const outcome = z
  .enum(OUTCOMES)
  .nullable()
  .meta({ description: 'Null while in flight, or where there was none.' });

export const error = z
  .object({
    type: z.enum([
      'BackupFailed',
      'DeploymentFailed',
      'BackupTimedOut',
      'DeploymentTimedOut',
      'OutcomeUnknown',
      'Terminated',
      'ResourceDeleted',
      'Busy',
      'Refused',
      'Cancelled',
      'WrongWorkflowId',
      'Internal',
      'Usage',
      'NotFound',
      'KeyReused',
      'TemporalUnreachable',
      'NoWorker',
      'StoppedWaiting',
    ]),
    message: z.string().meta({ description: 'For people.' }),
  })
  .nullable()
  .meta({ description: 'Why it is not completed, or null.' });

const trigger = z
  .object({
    attempts: count('How often it was sent.'),
    ambiguous: z.boolean().meta({ description: 'Whether an attempt may have had an effect that was not answered.' }),
    reconciledBy: z
      .enum([...EVIDENCE, 'resent'])
      .nullable()
      .meta({ description: 'How an ambiguous trigger was settled.' }),
  })
  .meta({ description: 'What became of the POST that starts the operation.' });

const operation = {
  outcome,
  lastStatus: text('The last status the service answered, in its own word.'),
  polls: count('Statuses that were answered.'),
  trigger,
  startedAt: time('When it started'),
  endedAt: time('When it ended'),
};

const backup = z
  .object({
    serverId: z.string(),
    backupId: text("The service's id of the backup."),
    source: z
      .enum(['created', 'shared', 'reused', 'given'])
      .nullable()
      .meta({ description: 'Where the backup is from; null where nobody knows yet.' }),
    ...operation,
  })
  .nullable()
  .meta({ description: 'The backup, or null for a run without one.' });

const deployment = z.object({
  siteId: z.string(),
  evidence: z
    .enum(EVIDENCE)
    .nullable()
    .meta({ description: "Why the status is held to be that of the run's deployment, strongest first." }),
  error,
  ...operation,
});

export const runResult = z
  .object({
    schemaVersion: z.int().min(SCHEMA_VERSION).meta({ description: 'Fields may be added within a version.' }),
    workflowId: text('The run in Temporal.'),
    runId: text("Temporal's id of this execution of it."),
    service: text('Origin of the service.'),
    outcome,
    phase: z
      .enum(['checking', 'queued', 'backup', 'deploy', 'done'])
      .nullable()
      .meta({ description: "Where the run is; queued waits for another run's lock." }),
    backup,
    deployments: z.array(deployment).meta({ description: 'One for each site, in the order they were asked for.' }),
    error,
    meta: z.record(z.string(), z.string()).nullable().meta({ description: 'The notes of the input.' }),
    links: z.object({ ui: text('The run in the Temporal UI.') }),
    startedAt: time('When the run started'),
    endedAt: time('When the run ended'),
  })
  .meta({
    title: 'Result of a run',
    description: 'What became of a run; in flight what is known of it, then the outcome is null.',
  }) satisfies z.ZodType<RunResult>;

export type RunResultIsTied = Assert<Same<z.infer<typeof runResult>, RunResult>>;
