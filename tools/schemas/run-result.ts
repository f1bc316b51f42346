/** The JSON Schema of a run's result. Open: fields are only ever added, so readers must ignore unknown ones. */
import { z } from 'zod';
import { EVIDENCE, OUTCOMES, PHASES, SCHEMA_VERSION } from '../../src/contract/names.ts';
import { TARGET_KINDS } from '../../src/contract/target.ts';
import type { RunResult } from '../../src/contract/run.ts';
import type { Assert, Same } from './tie.ts';

export const count = (description: string) => z.int().min(0).meta({ description });
export const text = (description: string) => z.string().nullable().meta({ description });
export const time = (what: string) =>
  z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    .meta({ format: 'date-time' })
    .nullable()
    .meta({ description: `${what}: ISO 8601, UTC. Null if unknown, or not yet known.` });

export const outcome = z
  .enum(OUTCOMES)
  .nullable()
  .meta({ description: 'Null while in progress, or if there was none.' });

export const error = z
  .object({
    type: z.enum([
      'BackupFailed',
      'DeploymentFailed',
      'CheckFailed',
      'GateFailed',
      'BackupTimedOut',
      'DeploymentTimedOut',
      'OutcomeUnknown',
      'Terminated',
      'ResourceDeleted',
      'Busy',
      'TooLate',
      'Frozen',
      'ApprovalExpired',
      'ApprovalRejected',
      'Refused',
      'Cancelled',
      'Superseded',
      'WrongWorkflowId',
      'Internal',
      'Usage',
      'NotFound',
      'KeyReused',
      'TemporalUnreachable',
      'NoWorker',
      'StoppedWaiting',
    ]),
    message: z.string().meta({ description: 'A message for people.' }),
  })
  .nullable()
  .meta({ description: 'Why it is not completed, or null.' });

const trigger = z
  .object({
    attempts: count('Number of times it was sent.'),
    ambiguous: z
      .boolean()
      .meta({ description: 'Whether an attempt may have taken effect although no answer confirmed it.' }),
    reconciledBy: z
      .enum([...EVIDENCE, 'resent'])
      .nullable()
      .meta({ description: 'How an ambiguous trigger was resolved.' }),
  })
  .meta({ description: 'The POST that starts the operation.' });

const operation = {
  outcome,
  lastStatus: text("The last status that was read, in the service's own word."),
  polls: count('Number of reads that returned a status.'),
  trigger,
  startedAt: time('When it started'),
  acceptedAt: time('When the service was known to have accepted the trigger'),
  inProgressAt: time('When a status in progress was last read'),
  endedAt: time('When it ended'),
};

const backup = z
  .object({
    serverId: z.string(),
    backupId: text("The service's id of the backup."),
    source: z
      .enum(['created', 'shared', 'reused', 'given'])
      .nullable()
      .meta({ description: 'Where the backup comes from; null if not yet known.' }),
    ...operation,
  })
  .nullable()
  .meta({ description: 'The backup, or null for a run without one.' });

/** What was deployed. */
export const named = {
  target: z.object({ kind: z.enum(TARGET_KINDS), id: z.string() }).meta({ description: 'The site or app.' }),
  siteId: text('Id of the site; null for an app.'),
};

const siteRead = z
  .object({
    kind: z.enum(['holds', 'fails', 'nothing']).meta({
      description: 'holds: all expectations; fails: it answered otherwise; nothing: it gave no answer.',
    }),
    httpStatus: z.int().nullable().meta({ description: 'HTTP status of the answer.' }),
    commit: text('The commit that the site shows.'),
    why: text('Why it does not hold.'),
  })
  .nullable();

const check = z
  .object({
    name: z.string().meta({ description: 'Its name in belay.yaml.' }),
    outcome: z
      .enum(['passed', 'failed', 'unknown'])
      .nullable()
      .meta({ description: 'Null while it is in progress, and if the deployment did not complete.' }),
    reads: count('Number of reads.'),
    goodReads: count('Number of reads in which all expectations held.'),
    baseline: siteRead.meta({ description: 'What the site answered just before the request.' }),
    last: siteRead.meta({ description: 'What the site answered last.' }),
  })
  .nullable()
  .meta({ description: 'The check of the site; null if it has none.' });

const deployment = z.object({
  ...named,
  evidence: z
    .enum(EVIDENCE)
    .nullable()
    .meta({ description: "Why the status counts as that of the run's deployment, strongest first." }),
  verdictAt: time('When the wait for its status ended; the check of the site comes after it'),
  check,
  error,
  ...operation,
});

export const held = z
  .array(
    z.object({
      for: z.enum(['freeze', 'window', 'approval', 'check', 'gate']),
      name: z.string().meta({ description: 'Its name in belay.yaml, or the workflow id of an ad-hoc freeze.' }),
      from: z.string().meta({ description: 'When it was first met, asked for, or overridden: ISO 8601, UTC.' }),
      to: time('When it no longer held'),
      end: z.enum(['passed', 'failed', 'gave_up', 'cancelled', 'overridden', 'approved', 'rejected']).nullable().meta({
        description:
          'passed: it no longer holds; gave_up: it would have lasted too long, no one decided in time, or a gate stayed inconclusive; failed: a gate did; overridden: the run was let off. Null: still waiting.',
      }),
      by: text('Who set it, overrode it, or decided; null for what is in belay.yaml.'),
      why: z.string(),
      proof: z.string().meta({ description: 'Of an approval: what proves who decided.' }).exactOptional(),
    }),
  )
  .meta({
    description:
      'The freezes, windows, approvals and gates that were waited for, the freezes that were overridden, and the checks that were left out, in order.',
  });

export const runResult = z
  .object({
    schemaVersion: z.int().min(SCHEMA_VERSION).meta({ description: 'Fields may be added within a version.' }),
    workflowId: text('Workflow id of the run.'),
    runId: text("Temporal's id of this execution of the workflow."),
    attached: z.boolean().meta({
      description: 'Whether this command joined what another had started. In the result of a workflow: false.',
    }),
    service: text('Identity of the service: URL and `#account`.'),
    outcome,
    phase: z.enum(PHASES).nullable().meta({
      description:
        "Where the run is. admission: it waits because many runs begin at once; frozen: for the end of a freeze; approval: for people who approve it; queued: for another run's lock; parked: for a service that does not answer.",
    }),
    backup,
    deployments: z.array(deployment).meta({ description: 'One for each target, in the order they were asked for.' }),
    error,
    supersededBy: z
      .object({ workflowId: z.string(), runId: z.string() })
      .nullable()
      .meta({ description: 'The newer run that took its place before it began, or null.' }),
    commit: text('The commit that the sites had to show.'),
    commitSeen: z.boolean().nullable().meta({
      description:
        'Whether the check of every target that was deployed saw that commit. False: it was named, and not seen. Null without a commit, and until something was deployed.',
    }),
    held,
    meta: z.record(z.string(), z.string()).nullable().meta({ description: 'The meta of the input.' }),
    links: z.object({ ui: text('Link to the run in the Temporal UI.') }),
    startedAt: time('When the run started'),
    endedAt: time('When the run ended'),
    unreadable: z
      .string()
      .meta({ description: 'Only in lists: why a part of the run could not be read. That part is null or missing.' })
      .exactOptional(),
  })
  .meta({
    title: 'Result of a run',
    description:
      'The result of a run, or what is known so far while it is in progress; its outcome is null until then.',
  }) satisfies z.ZodType<RunResult>;

export type RunResultIsTied = Assert<Same<z.infer<typeof runResult>, RunResult>>;
