/** The JSON Schema of a rollout's result. Open, like the schema of a run's result. */
import { z } from 'zod';
import { OUTCOMES, SCHEMA_VERSION } from '../../src/contract/names.ts';
import type { RolloutResult } from '../../src/features/rollouts/shapes.ts';
import { count, error, held, named, outcome, text, time } from './run-result.ts';
import type { Assert, Same } from './tie.ts';

const sum = z
  .record(z.enum([...OUTCOMES, 'running', 'pending']), z.int().min(0))
  .meta({ description: 'Number per outcome; running and pending have none yet.' });

const target = z.object({
  serverId: z.string(),
  wave: z.string(),
  outcome,
  workflowId: text('Workflow id of its run; null before it started.'),
  backup: outcome,
  deployments: z.array(z.object({ ...named, outcome })),
  error,
  heldByEvent: text('Workflow id of the event that keeps it from starting.'),
  startedAt: time('When it began'),
  endedAt: time('When it ended'),
});

const decision = z.object({
  at: z.string(),
  action: z.enum(['pause', 'resume', 'release', 'abort', 'hold', 'stop', 'note']),
  by: z.string(),
  reason: z.string(),
});

export const rolloutResult = z
  .object({
    schemaVersion: z.int().min(SCHEMA_VERSION).meta({ description: 'Fields may be added within a version.' }),
    workflowId: text('Workflow id of the rollout.'),
    runId: text("Temporal's id of this attempt."),
    attached: z.boolean().meta({
      description: 'Whether this command joined what another had started. In the result of a workflow: false.',
    }),
    service: text('Identity of the service: URL and `#account`.'),
    name: text('Its name in rollouts of belay.yaml.'),
    fleet: text('Name of the fleet in belay.yaml.'),
    attempt: count('1, plus 1 for each retry.'),
    outcome,
    phase: z.enum(['checking', 'approval', 'running', 'gate', 'paused', 'stopping', 'done']).nullable().meta({
      description:
        'Where the rollout is; approval waits for people, gate for what follows a wave, stopping waits for the runs in progress.',
    }),
    servers: sum,
    deployments: sum,
    targets: z.array(target).meta({ description: 'One for each server, in the order of the waves.' }),
    decisions: z
      .array(decision)
      .meta({ description: 'Decisions about the rollout, oldest first: action, reason, and who made it.' }),
    error,
    held,
    passedWaves: z
      .array(z.string())
      .meta({ description: 'Waves that passed what follows them, a bake or gates, or were let off.' }),
    meta: z.record(z.string(), z.string()).nullable().meta({ description: 'The meta of the input.' }),
    links: z.object({ ui: text('Link to the rollout in the Temporal UI.') }),
    startedAt: time('When it started'),
    endedAt: time('When it ended'),
    unreadable: z
      .string()
      .meta({
        description: 'Only in lists: why a part of the rollout could not be read. That part is null or missing.',
      })
      .exactOptional(),
  })
  .meta({
    title: 'Result of a rollout',
    description:
      'The result of a rollout, or what is known so far while it is in progress; its outcome is null until then.',
  }) satisfies z.ZodType<RolloutResult>;

export type RolloutResultIsTied = Assert<Same<z.infer<typeof rolloutResult>, RolloutResult>>;
