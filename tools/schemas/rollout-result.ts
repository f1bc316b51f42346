/** What a rollout answers, as a schema. Open, as that of a run. */
import { z } from 'zod';
import { OUTCOMES, SCHEMA_VERSION } from '../../src/contract/run.ts';
import type { RolloutResult } from '../../src/contract/rollout.ts';
import { count, error, outcome, text, time } from './run-result.ts';
import type { Assert, Same } from './tie.ts';

const sum = z
  .record(z.enum([...OUTCOMES, 'running', 'to_come']), z.int().min(0))
  .meta({ description: 'How many have which outcome; running and to_come have none yet.' });

const target = z.object({
  serverId: z.string(),
  wave: z.string(),
  outcome,
  workflowId: text('Its run; null before it began.'),
  backup: outcome,
  deployments: z.array(z.object({ siteId: z.string(), outcome })),
  error,
  heldBy: text('The event that keeps it from beginning.'),
  startedAt: time('When it began'),
  endedAt: time('When it ended'),
});

const decision = z.object({
  at: z.string(),
  what: z.enum(['pause', 'resume', 'release', 'abort', 'hold', 'stop']),
  by: z.string(),
  why: z.string(),
});

export const rolloutResult = z
  .object({
    schemaVersion: z.int().min(SCHEMA_VERSION).meta({ description: 'Fields may be added within a version.' }),
    workflowId: text('The rollout in Temporal.'),
    runId: text("Temporal's id of this attempt."),
    service: text('Origin of the service.'),
    name: text('Of rollouts in belay.yaml.'),
    fleet: text('Of fleets in belay.yaml.'),
    attempt: count('1, and one more with each retry.'),
    outcome,
    phase: z
      .enum(['checking', 'running', 'paused', 'stopping', 'done'])
      .nullable()
      .meta({ description: 'Where it is; stopping lets what runs end.' }),
    servers: sum,
    deployments: sum,
    targets: z.array(target).meta({ description: 'One for each server, in the order of the waves.' }),
    decisions: z.array(decision).meta({ description: 'Who decided what, and why, the oldest first.' }),
    error,
    meta: z.record(z.string(), z.string()).nullable().meta({ description: 'The notes of the input.' }),
    links: z.object({ ui: text('The rollout in the Temporal UI.') }),
    startedAt: time('When it started'),
    endedAt: time('When it ended'),
  })
  .meta({
    title: 'Result of a rollout',
    description: 'What became of a rollout; in flight what is known of it, then the outcome is null.',
  }) satisfies z.ZodType<RolloutResult>;

export type RolloutResultIsTied = Assert<Same<z.infer<typeof rolloutResult>, RolloutResult>>;
