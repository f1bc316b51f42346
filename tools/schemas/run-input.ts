/** The JSON Schema of a run's input, from the option table. It allows what a run of some type takes. */
import { COMMIT } from '../../src/contract/wording/commit-text.ts';
import { z } from 'zod';
import { TIMING } from '../../src/contract/budgets/timing.ts';
import {
  MAX_ID_LENGTH,
  MAX_META_ENTRIES,
  MAX_META_LENGTH,
  MAX_APPROVED,
  MAX_OVERRIDES,
  MAX_REASON_LENGTH,
  MAX_TARGETS,
} from '../../src/request/limits.ts';
import { TARGET_KINDS } from '../../src/contract/target.ts';
import { splitPath } from '../../src/request/option-path.ts';
import { INSTANT, TIME_OF_DAY } from '../../src/request/validate-run-input.ts';
import { RUN_OPTIONS, type RunOptionRow } from '../../src/request/run-options.ts';

// eslint-disable-next-line no-control-regex -- control characters are what it keeps out
const ID = /^(?!\.{1,2}$)(?!\s)(?!.*\s$)[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]+$/u;

// JSON Schema counts characters, validate-id.ts UTF-16 units.
const inUnits = (max: number) => `at most ${max} UTF-16 units: a character beyond U+FFFF counts as two`;

const id = (what: string) =>
  z
    .string()
    .min(1)
    .max(MAX_ID_LENGTH)
    .regex(ID)
    .meta({
      description: `${what}. No control characters, neither "." nor "..", no blank at either end, ${inUnits(MAX_ID_LENGTH)}.`,
    });

const notes = z.record(z.string().min(1).max(MAX_META_LENGTH), z.string().max(MAX_META_LENGTH));

function schemaOf({ type, help, derived, default: value }: RunOptionRow): z.ZodType {
  const unit = type.kind === 'duration' ? ', in milliseconds' : '';
  const made = derived === undefined ? '' : ` Default: ${derived.text}.`;
  const description = `${help.charAt(0).toUpperCase()}${help.slice(1)}${unit}.${made}`;
  const meta = value === null ? { description } : { description, default: value };
  switch (type.kind) {
    case 'duration':
    case 'count':
      return z.int().min(type.limits[0]).max(type.limits[1]).meta(meta);
    case 'choice':
      return z.enum(type.of).meta(meta);
    case 'switch':
      return z.boolean().meta(meta);
    case 'id':
      return id(description.slice(0, -1));
    case 'ids': {
      const name = id('A name');
      return z.union([name, z.array(name).min(1).max(MAX_OVERRIDES).meta({ uniqueItems: true })]).meta(meta);
    }
    case 'commit':
      return z
        .string()
        .regex(COMMIT)
        .meta({ description, examples: ['3f2c1ab'] });
    case 'map':
      return notes.meta({
        description: `${description} Names and values have ${inUnits(MAX_META_LENGTH)}.`,
        maxProperties: MAX_META_ENTRIES,
      });
  }
}

function shapeOf(group: 'backup' | 'deploy' | null): Record<string, z.ZodType> {
  const rows = RUN_OPTIONS.filter(({ path }) => splitPath(path).group === group);
  return Object.fromEntries(rows.map((row) => [splitPath(row.path).field, z.exactOptional(schemaOf(row))]));
}

const group = (name: 'backup' | 'deploy', description: string) =>
  z.exactOptional(z.strictObject(shapeOf(name)).meta({ description }));

const ORDER = 'in order: none for backupOnly, one for watchDeployment, else at least one.';

const someOf = (field: string) => ({
  required: [field],
  properties: { [field]: { type: 'array' as const, minItems: 1 } },
});

const decision = {
  reason: z.string().regex(/\S/).max(MAX_REASON_LENGTH).meta({ description: 'Recorded with the run.' }),
  by: z.string().regex(/\S/).max(MAX_REASON_LENGTH).meta({ description: 'Who decides.' }).exactOptional(),
};

export const runInput = z
  .strictObject({
    service: z
      .string()
      .meta({
        description:
          'Identity of the service the run is meant for: URL and `#account`. Default: the service of its workers.',
      })
      .exactOptional(),
    epoch: z
      .string()
      .meta({ description: 'The BELAY_EPOCH in which the run is started. In another one it sends nothing.' })
      .exactOptional(),
    serverId: id(
      'The server to back up: backupThenDeploy and backupOnly need it, the others reject it',
    ).exactOptional(),
    fleet: id('The fleet whose freezes, windows and approvals hold the run back, too; rollouts set it').exactOptional(),
    siteIds: z
      .array(id('A site'))
      .max(MAX_TARGETS)
      .meta({ description: `The sites to deploy, ${ORDER}`, uniqueItems: true })
      .exactOptional(),
    targets: z
      .array(z.strictObject({ kind: z.enum(TARGET_KINDS), id: id('Its id') }))
      .max(MAX_TARGETS)
      .meta({ description: `Instead of siteIds: the sites and apps to deploy, ${ORDER}`, uniqueItems: true })
      .exactOptional(),
    backup: group('backup', 'How the backup is made and waited for.'),
    deploy: group(
      'deploy',
      `How each deployment is made and waited for. A settle time under ${TIMING.verdict.minSettleMs} ms counts as that.`,
    ),
    deploysUntil: z
      .strictObject({
        time: z
          .string()
          .regex(TIME_OF_DAY)
          .meta({ description: 'Such as 06:00.', examples: ['06:00'] }),
        timeZone: z.string().meta({ description: 'Such as Europe/Berlin.' }),
        after: z
          .string()
          .regex(INSTANT)
          .meta({ description: 'Default: the start of the run.', examples: ['2026-11-22T02:30:00.000Z'] })
          .exactOptional(),
      })
      .meta({ description: 'Trigger no deployment after the first such time of day after an instant.' })
      .exactOptional(),
    override: z
      .strictObject({
        freezes: z
          .array(id('A name in belay.yaml, or the workflow id of an ad-hoc freeze'))
          .min(1)
          .max(MAX_OVERRIDES)
          .meta({ description: 'Freezes and windows.', uniqueItems: true }),
        ...decision,
      })
      .meta({ description: 'Freezes and windows that do not hold this run back. watchDeployment rejects it.' })
      .exactOptional(),
    noCheck: z
      .strictObject(decision)
      .meta({ description: 'Leave out the checks of the sites. watchDeployment rejects it.' })
      .exactOptional(),
    approved: z
      .array(
        z.looseObject({
          plan: z.looseObject({ rules: z.array(z.looseObject({})), parts: z.looseObject({}) }),
          yeses: z.array(z.looseObject({ by: z.string(), proof: z.looseObject({}) })),
          part: z.looseObject({ targets: z.array(z.looseObject({})), path: z.array(z.looseObject({})) }),
        }),
      )
      .max(MAX_APPROVED)
      .meta({ description: 'What was approved for the rollout that starts this run. Workers verify it.' })
      .exactOptional(),
    ...shapeOf(null),
  })
  .meta({
    title: 'Input of a run',
    description: 'What a run may be asked for. Whether it needs a server, and how many targets, depends on its type.',
    // Every run type needs a server or a target.
    anyOf: [{ required: ['serverId'] }, ...['siteIds', 'targets'].map(someOf)],
    not: { required: ['siteIds', 'targets'] },
    dependentRequired: { orNewer: ['commit'] },
    // Only a run that deploys, and that waits for the lock, replaces others.
    if: { required: ['supersede'], properties: { supersede: { const: true } } },
    then: {
      anyOf: ['siteIds', 'targets'].map(someOf),
      properties: { ifBusy: { type: 'string' as const, enum: ['wait'] } },
    },
  });
