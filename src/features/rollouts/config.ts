/** Rollouts in belay.yaml: the schema, and the rules between keys. */
import { z } from 'zod';
import { LIMITS, MAX_AT_ONCE } from '../../request/limits.ts';
import { runOptionsShape } from '../../config/file/run-options.ts';
import {
  AS_WRITTEN,
  KEPT,
  duration,
  labels,
  name,
  countOrPercent,
  timeOfDay,
  timeZone,
  wholeNumber,
  oneOf,
  type Path,
  type ReportIssue,
} from '../../config/file/schema-values.ts';
import { REMAINING, wavesOf } from '../../config/rollout-plan.ts';
import { ownEntry } from '../../contract/plain-object.ts';
import type { Configuration } from '../../config/file/file-schema.ts';

const MAX_GATES = 5;

const after = z.strictObject(
  {
    bake: duration(LIMITS.bakeMs).describe('How long to wait once all servers of the wave have ended.').optional(),
    gates: z
      .array(name)
      .min(1, { error: 'name at least one gate' })
      .max(MAX_GATES, { error: `name at most ${MAX_GATES} gates` })
      .describe('Which gates have to pass then. They are measured side by side.')
      .optional(),
  },
  { error: 'write bake: and gates: below it' },
);

const reaction = z.enum(['pause', 'stop']);

const onGates = z.strictObject(
  {
    failed: reaction.describe('After a gate that failed; default as onFailures.').optional(),
    inconclusive: reaction.describe('After a gate that could not be judged; default pause.').optional(),
    patience: duration(LIMITS.patienceMs)
      .describe('How long such a gate may keep the rollout paused; default 24h.')
      .optional(),
  },
  { error: 'write failed:, inconclusive: and patience: below it' },
);

const NO_SIZE = { error: 'write labels: or servers: to say which servers go in this wave' };

const wave = z
  .strictObject(
    {
      name: name.optional(),
      labels: labels.describe('Takes servers that have all of these labels.').optional(),
      servers: countOrPercent
        .refine((value) => Number.parseFloat(String(value)) > 0, {
          error: 'write a number of servers from 1, or a percentage',
        })
        .describe('How many servers, as a number or a percentage of the fleet; default all.')
        .optional(),
      after: after.describe('What has to pass after this wave, before the next one starts.').optional(),
      approval: name.describe('Which entry of approvals has to be given before this wave starts.').optional(),
    },
    NO_SIZE,
  )
  .refine((it) => Object.keys(it.labels ?? {}).length > 0 || it.servers !== undefined, NO_SIZE);

const rollout = z.strictObject(
  {
    fleet: z.string({ error: 'write the name of a fleet' }).register(AS_WRITTEN, KEPT),
    waves: z
      .array(wave)
      .min(1, { error: 'name at least one wave, or leave waves out' })
      .describe('Run one after another. Servers that no wave takes come last.')
      .optional(),
    maxAtOnce: wholeNumber([1, MAX_AT_ONCE])
      .describe('Maximum number of servers in progress at the same time; default 1.')
      .optional(),
    maxFailures: countOrPercent
      .describe(
        'How many servers may fail, which means not completed, as a number or a percentage of the fleet; default 0.',
      )
      .optional(),
    onFailures: z
      .enum(['stop', 'pause'])
      .describe('After more failures than that: start no more servers (default), or pause for a decision.')
      .optional(),
    onGates: onGates.describe('What to do after gates that do not pass.').optional(),
    deploysUntil: timeOfDay
      .describe('Trigger no deployment after this time of day, the first one after the start.')
      .optional(),
    timeZone: timeZone.describe('Time zone of deploysUntil; default UTC.').optional(),
    ...runOptionsShape,
  },
  { error: 'write fleet: and the options of the rollout below it' },
);

export const rollouts = z.record(name, rollout);
type RolloutConfig = z.infer<typeof rollout>;
export function checkRollouts(configuration: Configuration, report: ReportIssue): void {
  for (const [name, rollout] of Object.entries(configuration.rollouts ?? {})) {
    checkRollout(['rollouts', name], rollout, configuration, report);
  }
}

function checkRollout(path: Path, rollout: RolloutConfig, { fleets = {} }: Configuration, report: ReportIssue): void {
  const fleet = ownEntry(fleets, rollout.fleet);
  if (fleet === undefined) {
    return report([...path, 'fleet'], `there is no fleet ${rollout.fleet}: ${oneOf(fleets, 'fleets')}`);
  }
  const waves = wavesOf(fleet, rollout.waves);
  for (const [index, { name: own }] of (rollout.waves ?? []).entries()) {
    const at = [...path, 'waves', index];
    const remedy = 'change its labels or the waves before it';
    if (waves[index]?.targets.length === 0) report(at, `no server is left for this wave: ${remedy}`);
    const name = waves[index]?.name;
    if (waves.findIndex((it) => it.name === name) < index) {
      report(own === undefined ? at : [...at, 'name'], `another wave has the name ${name}: use a different name`);
    }
    if (own === REMAINING)
      report([...at, 'name'], `the name ${REMAINING} is reserved for servers that no wave takes: rename this wave`);
  }
}
