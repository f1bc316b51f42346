/**
 * Defines what a run may be asked for, from the option table. Clients and workers check with it, and it provides the
 * messages and docs/run-input.schema.json. It allows what a run of some type takes; `validateRunInput` adds what
 * depends on the type. It is never part of the workflow bundle: a worker checks in an activity.
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { isRecord } from '../../contract/plain-object.ts';
import { TIMING } from '../../contract/timing.ts';
import type { RunType } from '../../contract/names.ts';
import type { RunInput } from '../../contract/run.ts';
import { siteTarget, TARGET_KINDS, type Target, targetText } from '../../contract/target.ts';
import { COMMIT } from '../../contract/commit.ts';
import {
  MAX_APPROVED,
  MAX_ID_LENGTH,
  MAX_META_BYTES,
  MAX_META_ENTRIES,
  MAX_META_LENGTH,
  MAX_OVERRIDES,
  MAX_TEXT_LENGTH,
  MAX_TARGETS,
  type Limits,
} from '../limits.ts';
import { didYouMean } from './did-you-mean.ts';
import { splitPath, RUN_OPTIONS, type RunOptionRow } from '../run-options.ts';
import { problemOfText, problemOfId, TIME_OF_DAY } from '../problems.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/;

// eslint-disable-next-line no-control-regex -- control characters are what it keeps out
const ID = /^(?!\.{1,2}$)(?!\s)(?!.*\s$)[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]+$/u;

// JSON Schema counts characters, problems.ts UTF-16 units.
const inUnits = (max: number) => `at most ${max} UTF-16 units: a character beyond U+FFFF counts as two`;

/** Returns what is wrong, as the end of a sentence that begins with the place, or null. */
type Problem<T> = (value: T) => string | null;

const refinedBy =
  <T>(problemOf: Problem<T>) =>
  (value: T, context: z.core.$RefinementCtx) => {
    const problem = problemOf(value);
    if (problem !== null) context.addIssue(problem);
  };

const text = () => z.string({ error: 'is not a string' });

/** The JSON Schema states the rules of problems.ts in its own words. */
export const idOf = (what: string) =>
  text()
    .superRefine(refinedBy(problemOfId))
    .meta({
      minLength: 1,
      maxLength: MAX_ID_LENGTH,
      pattern: ID.source,
      description: `${what}. No control characters, neither "." nor "..", no blank at either end, ${inUnits(MAX_ID_LENGTH)}.`,
    });

export function wholeNumberWithin([min, max]: Limits) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

function namesOf(what: string, error: string) {
  return z
    .array(idOf(what), { error })
    .min(1, { error })
    .max(MAX_OVERRIDES, { error: `has over ${MAX_OVERRIDES} names` })
    .superRefine(refinedBy((names) => (new Set(names).size < names.length ? 'names one twice' : null)));
}

export const oneOrMoreNames = () =>
  z.union([idOf('A name'), namesOf('A name', `must have 1 to ${MAX_OVERRIDES} names`).meta({ uniqueItems: true })], {
    error: ({ input }) => problemOfNames(input),
  });

/** A union says only that nothing fits, so the form that was probably meant says why. */
function problemOfNames(input: unknown): string {
  if (!Array.isArray(input)) return problemOfId(input) ?? '';
  const { error } = namesOf('A name', `must have 1 to ${MAX_OVERRIDES} names`).safeParse(input);
  return error?.issues[0]?.message ?? '';
}

/** @param whose what the message about an unknown field calls the object @param page where its fields are described */
export const objectOf = <T extends z.core.$ZodLooseShape>(
  shape: T,
  whose = "a run's input",
  page = 'docs/run-input.schema.json',
) =>
  z.strictObject(shape, {
    error(issue) {
      if (issue.code !== 'unrecognized_keys') return 'is not an object';
      const meant = didYouMean(String(issue.keys[0]), Object.keys(shape));
      return `is not a field of ${whose}${meant}; see ${page}`;
    },
  });

const SECRET_NAME =
  /(^|_)(token|password|passwd|passphrase|secret|credentials?|apikey|(api|access|private|secret|ssh|deploy|signing|encryption)_key)(_|$)/;

function isSecretName(name: string): boolean {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1_$2').split(/[^A-Za-z\d]+/);
  return SECRET_NAME.test(words.join('_').toLowerCase());
}

const SHORT = { type: 'string' as const, maxLength: MAX_META_LENGTH };

/** A record of zod skips this name, so nothing would check its value. */
const PROTOTYPE = '__proto__';

const noteTexts = z.preprocess(
  (meta, context) => {
    if (isRecord(meta) && Object.hasOwn(meta, PROTOTYPE))
      context.addIssue({ code: 'custom', message: 'this name is not allowed: use another one', path: [PROTOTYPE] });
    return meta;
  },
  z.record(z.string(), text(), { error: 'is not an object' }),
);

/** Notes (`meta`), with their limits. */
export const notes = noteTexts
  .superRefine((meta, context) => {
    const report = (message: string, ...path: string[]) => context.addIssue({ code: 'custom', message, path });
    const entries = Object.entries(meta);
    if (entries.length > MAX_META_ENTRIES) report(`has over ${MAX_META_ENTRIES} entries`);
    for (const [name, { length }] of entries) {
      if (name === '' || name.length > MAX_META_LENGTH) report(`a name is empty or over ${MAX_META_LENGTH} characters`);
      else if (isSecretName(name))
        report('notes are stored as they are, and this is the name of a secret: omit it', name);
      else if (length > MAX_META_LENGTH)
        report(`has ${length} characters, at most ${MAX_META_LENGTH} are allowed`, name);
    }
    // Counts bytes of JSON, which takes up to six bytes for a control character.
    const bytes = utf8ToBytes(JSON.stringify(entries.flat().join(''))).length;
    if (bytes > MAX_META_BYTES) report(`has ${bytes} bytes in all, at most ${MAX_META_BYTES} are allowed`);
  })
  .meta({
    maxProperties: MAX_META_ENTRIES,
    propertyNames: { ...SHORT, minLength: 1, pattern: '^(?!__proto__$)' },
    additionalProperties: SHORT,
  });

function schemaOf({ type, help, derived, default: value }: RunOptionRow): z.ZodType {
  const unit = type.kind === 'duration' ? ', in milliseconds' : '';
  const made = derived === undefined ? '' : ` Default: ${derived.text}.`;
  const description = `${help.charAt(0).toUpperCase()}${help.slice(1)}${unit}.${made}`;
  const meta = value === undefined ? { description } : { description, default: value };
  switch (type.kind) {
    case 'duration':
    case 'count':
      return wholeNumberWithin(type.limits).meta(meta);
    case 'choice':
      return z.enum(type.of, { error: `must be one of ${type.of.join(', ')}` }).meta(meta);
    case 'switch':
      return z.boolean({ error: 'is neither true nor false' }).meta(meta);
    case 'id':
      return idOf(description.slice(0, -1));
    case 'ids':
      return oneOrMoreNames().meta(meta);
    case 'commit': {
      const error = 'is not a commit: write 7 to 64 hex digits';
      return z
        .string({ error })
        .regex(COMMIT, { error })
        .meta({ description, examples: ['3f2c1ab'] });
    }
    case 'map':
      return notes.meta({ description: `${description} Names and values have ${inUnits(MAX_META_LENGTH)}.` });
  }
}

function shapeOf(group: 'backup' | 'deploy' | null): Record<string, z.ZodType> {
  const rows = RUN_OPTIONS.filter(({ path }) => splitPath(path).group === group);
  return Object.fromEntries(rows.map((row) => [splitPath(row.path).field, schemaOf(row).optional()]));
}

function targetsOf<T extends z.ZodType>(target: T, what: string, toTarget: (value: z.output<T>) => Target) {
  return z
    .array(target, { error: 'is not a list' })
    .superRefine((list, context) => {
      if (list.length > MAX_TARGETS)
        context.addIssue(`has ${list.length} ${what}s, at most ${MAX_TARGETS} are allowed`);
      const before = new Set<string>();
      for (const [index, value] of list.entries()) {
        const name = targetText(toTarget(value));
        if (before.has(name)) context.addIssue({ code: 'custom', message: `names the ${name} twice`, path: [index] });
        before.add(name);
      }
    })
    .meta({ maxItems: MAX_TARGETS, uniqueItems: true });
}

const ORDER = 'in order: none for backupOnly, one for watchDeployment, else at least one.';

const someOf = (field: string) => ({
  required: [field],
  properties: { [field]: { type: 'array' as const, minItems: 1 } },
});

export const targetSchema = objectOf(
  {
    kind: z.enum(TARGET_KINDS, { error: `must be one of ${TARGET_KINDS.join(', ')}` }),
    id: idOf('Its id'),
  },
  'a target',
);

const forPeople = (description: string) =>
  z
    .string({ error: 'is empty: give one' })
    .superRefine(refinedBy(problemOfText))
    .meta({ description, pattern: /\S/.source, maxLength: MAX_TEXT_LENGTH });

const decision = { reason: forPeople('Recorded with the run.'), by: forPeople('Who decides.').optional() };

export const runInput = objectOf({
  siteIds: targetsOf(idOf('A site'), 'site', siteTarget)
    .meta({ description: `The sites to deploy, ${ORDER}` })
    .optional(),
  targets: targetsOf(targetSchema, 'target', (it) => it)
    .meta({ description: `Instead of siteIds: the sites and apps to deploy, ${ORDER}` })
    .optional(),
  service: text()
    .meta({
      description:
        'Identity of the service the run is meant for: URL and `#account`. Default: the service of its workers.',
    })
    .optional(),
  epoch: text()
    .meta({ description: 'The BELAY_EPOCH in which the run is started. In another one it sends nothing.' })
    .optional(),
  serverId: idOf('The server to back up: backupThenDeploy and backupOnly need it, the others reject it').optional(),
  fleet: idOf('The fleet whose freezes, windows and approvals hold the run back, too; rollouts set it').optional(),
  backup: objectOf(shapeOf('backup')).meta({ description: 'How the backup is made and waited for.' }).optional(),
  deploy: objectOf(shapeOf('deploy'))
    .meta({
      description: `How each deployment is made and waited for. A settle time under ${TIMING.verdict.minSettleMs} ms counts as that.`,
    })
    .optional(),
  // A worker finds out whether there is such a time zone.
  deploysUntil: objectOf({
    time: z
      .string({ error: 'must be a time like 06:00' })
      .regex(TIME_OF_DAY, { error: 'must be a time like 06:00' })
      .meta({ description: 'Such as 06:00.', examples: ['06:00'] }),
    timeZone: text().meta({ description: 'Such as Europe/Berlin.' }),
    after: z
      .string({ error: 'is not a time in UTC, ISO 8601' })
      .regex(INSTANT, { error: 'is not a time in UTC, ISO 8601' })
      .meta({ description: 'Default: the start of the run.', examples: ['2026-11-22T02:30:00.000Z'] })
      .optional(),
  })
    .meta({ description: 'Trigger no deployment after the first such time of day after an instant.' })
    .optional(),
  override: objectOf({
    freezes: namesOf('A name in belay.yaml, or the workflow id of an ad-hoc freeze', 'must be a list of names').meta({
      description: 'Freezes and windows.',
      uniqueItems: true,
    }),
    ...decision,
  })
    .meta({ description: 'Freezes and windows that do not hold this run back. watchDeployment rejects it.' })
    .optional(),
  noCheck: objectOf(decision)
    .meta({ description: 'Leave out the checks of the sites. watchDeployment rejects it.' })
    .optional(),
  // This checks only the shape. Workers verify what was approved.
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
    .optional(),
  letOff: z
    .array(z.strictObject({ kind: z.enum(['freeze', 'window']), name: z.string(), since: z.string().optional() }))
    .max(MAX_OVERRIDES)
    .meta({ description: 'What the override of the rollout that starts this run lets it off. Workers judge it.' })
    .optional(),
  ...shapeOf(null),
}).meta({
  title: 'Input of a run',
  description: 'What a run may be asked for. Whether it needs a server, and how many targets, depends on its type.',
  // Every run type needs a server or a target.
  anyOf: [{ required: ['serverId'] }, ...['siteIds', 'targets'].map(someOf)],
  not: { required: ['siteIds', 'targets'] },
  dependentRequired: { orNewer: ['commit'] },
  // A run replaces others only if it deploys and waits for the lock.
  if: { required: ['supersede'], properties: { supersede: { const: true } } },
  then: {
    anyOf: ['siteIds', 'targets'].map(someOf),
    properties: { ifBusy: { type: 'string' as const, enum: ['wait'] } },
  },
});

/** @param input any JSON @returns the first problem, with its place, or null */
export function validateRunInput(type: RunType, input: unknown): string | null {
  const { error } = runInput.safeParse(input);
  return error === undefined ? problemForType(type, input as RunInput) : firstProblem(error);
}

/** Only Belay makes these lists, so one message is about a whole list. */
const WHOLE: Record<string, string> = {
  approved: 'is not what a rollout gives its runs, leave it out',
  letOff: 'is not what a rollout gives its runs, leave it out',
  previousResults: 'is not a list of results',
  passedWaves: 'is not a list of names',
};

/** @returns a text such as `deploy.tries: must be a whole number from 1 to 2000` */
export function firstProblem({ issues }: z.ZodError): string {
  // A misspelt name explains what else is missing.
  const misspelt = issues.find(({ code }) => code === 'unrecognized_keys');
  const { path = [], message = '' } = misspelt ?? issues[0] ?? {};
  const [whole = ''] = path;
  if (Object.hasOwn(WHOLE, whole)) return `${String(whole)}: ${WHOLE[String(whole)]}`;
  const place = [...path, ...(misspelt?.code === 'unrecognized_keys' ? misspelt.keys.slice(0, 1) : [])];
  const text = place.map((it) => (typeof it === 'number' ? `[${it}]` : `.${String(it)}`)).join('');
  return text === '' ? `the input ${message}` : `${text.slice(1)}: ${message}`;
}

/** Returns what a run of this type lacks, or what it must not have. */
export function problemForType(type: RunType, input: RunInput): string | null {
  const { siteIds, targets, serverId, commit, orNewer, supersede, ifBusy, override, noCheck } = input;
  if (siteIds !== undefined && targets !== undefined) return 'targets: is given beside siteIds, use one of them';
  const [field, what] = targets === undefined ? ['siteIds', 'site'] : ['targets', 'target'];
  const named = targets ?? siteIds;
  const { length: count } = named ?? [];
  const isDeploying = type === 'backupThenDeploy' || type === 'deployOnly';
  const isBackingUp = type === 'backupThenDeploy' || type === 'backupOnly';
  const isWatching = type === 'watchDeployment';
  if (type === 'backupOnly' && count > 0) return `${field}: backupOnly deploys nothing, leave it empty`;
  if (type !== 'backupOnly' && count === 0)
    return `${field}: is ${named === undefined ? 'missing' : 'empty'}, ${type} needs a ${what}`;
  if (isWatching && count > 1) return `${field}: watchDeployment follows one ${what}`;
  if (isBackingUp && serverId === undefined) return `serverId: is missing, ${type} needs the server to back up`;
  if (!isBackingUp && serverId !== undefined) return `serverId: ${type} makes no backup, leave it out`;
  if (isWatching && override !== undefined)
    return 'override: a watched deployment is held back by no freeze, leave it out';
  if (isWatching && noCheck !== undefined)
    return 'noCheck: a watched deployment is checked only for its commit, leave that out';
  if (orNewer !== undefined && commit === undefined) return 'orNewer: requires a commit';
  if (supersede !== true) return null;
  if (!isDeploying) return `supersede: ${type} replaces no run, leave it out`;
  // Such a run would end waiting runs, and then deploy nothing itself.
  return ifBusy === 'fail' ? 'supersede: waits for the lock, and ifBusy is fail: leave one out' : null;
}

/** A program passes on what it did not get as undefined. @returns the problem of a field that decides what is done, or null */
export function problemOfUnset(input: object): string | null {
  const { siteIds, targets } = input as Partial<RunInput>;
  const isDeployed = siteIds !== undefined || targets !== undefined;
  const deciding = isDeployed ? ['serverId'] : ['serverId', 'siteIds', 'targets'];
  const unset = deciding.find((it) => Object.hasOwn(input, it) && input[it as keyof typeof input] === undefined);
  if (unset === undefined) return null;
  return `${unset}: is undefined, and what is done depends on it: give it a value, or leave it out`;
}
