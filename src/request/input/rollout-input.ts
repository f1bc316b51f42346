/** Defines what a rollout may be asked for. Clients and workers check with it. It reuses the schema of a run's input. */
import { z } from 'zod';
import { OUTCOMES } from '../../contract/names.ts';
import { TARGET_KINDS } from '../../contract/target.ts';
import type { RolloutInput } from '../../features/rollouts/shapes.ts';
import { LIMITS, MAX_AT_ONCE, MAX_TARGETS } from '../limits.ts';
import { isWellFormed } from '../problems.ts';
import { splitPath, RUN_OPTIONS, valueAt } from '../run-options.ts';
import {
  firstProblem,
  idOf,
  objectOf,
  oneOrMoreNames,
  problemForType,
  problemOfUnset,
  runInput,
  targetSchema,
  wholeNumberWithin,
} from './run-input.ts';

/** Rollouts, fleets and schedules have such names. */
export const NAME = /^[a-z0-9][a-z0-9-]{0,49}$/;

const NAME_ERROR = { error: 'must be 1 to 50 characters of a-z, 0-9 and "-", not beginning with "-"' };
const name = z.string(NAME_ERROR).regex(NAME, NAME_ERROR);

const reaction = z.enum(['pause', 'stop'], { error: 'must be pause or stop' });
const NO_LIST = { error: 'is not a list' };

function atLeast(min: number) {
  const error = `must be a whole number of at least ${min}`;
  return z.int({ error }).min(min, { error });
}

const { shape } = runInput;
const fieldsOfRun = (names: readonly string[]) =>
  Object.fromEntries(Object.entries(shape).filter(([field]) => names.includes(field)));

const PAGE = 'docs/reference/library.md';

const options = objectOf(
  fieldsOfRun(RUN_OPTIONS.map(({ path }) => splitPath(path).group ?? path)),
  "a rollout's options",
  PAGE,
).superRefine((given, context) => {
  for (const { path, notInRollout } of RUN_OPTIONS)
    if (notInRollout !== undefined && valueAt(given, path) !== undefined)
      context.addIssue({ code: 'custom', message: notInRollout, path: path.split('.') });
});

const after = objectOf(
  {
    bakeMs: wholeNumberWithin(LIMITS.bakeMs).optional(),
    gates: z
      .array(idOf('A gate'), NO_LIST)
      .superRefine((gates, context) => {
        const twice = gates.findIndex((it, index) => gates.indexOf(it) < index);
        const message = 'is not a name, or is there twice';
        if (twice >= 0) context.addIssue({ code: 'custom', message, path: [twice] });
      })
      .optional(),
  },
  'what follows a wave',
  PAGE,
);

const server = objectOf(
  {
    serverId: idOf('A server'),
    siteIds: shape.siteIds,
    targets: shape.targets,
    completedTargets: z.array(targetSchema, NO_LIST).optional(),
  },
  "a wave's server",
  PAGE,
);

const wave = objectOf(
  {
    name: idOf('Its name'),
    approval: idOf('An approval').optional(),
    after: after.optional(),
    targets: z.array(server, NO_LIST),
  },
  'a wave',
  PAGE,
);

const waves = z
  .array(wave, { error: 'is not a list, or is empty' })
  .min(1, { error: 'is not a list, or is empty' })
  .superRefine((all, context) => {
    const report = (message: string, ...path: (string | number)[]) =>
      context.addIssue({ code: 'custom', message, path });
    const [names, servers] = [new Set<string>(), new Set<string>()];
    let size = 0;
    for (const [index, { name: own, targets }] of all.entries()) {
      if (names.has(own)) report(`another wave has the name ${own}`, index, 'name');
      names.add(own);
      for (const [place, { serverId, siteIds, targets: deployed }] of targets.entries()) {
        if (servers.has(serverId)) report(`names server ${serverId} twice`, index, 'targets', place);
        servers.add(serverId);
        size += Math.max(1, (deployed ?? siteIds ?? []).length);
      }
    }
    if (size > MAX_TARGETS) report(`have ${size} targets, at most ${MAX_TARGETS} are allowed`);
  });

const outcome = z.enum(OUTCOMES).nullable();
const wellFormed = z.string().refine(isWellFormed);

/** What an earlier attempt says of a server. A later version may say more. Other than a wave's server, it is never started. */
const completedServer = z.looseObject({
  serverId: idOf('A server'),
  wave: idOf('Its wave'),
  outcome: z.literal('completed'),
  workflowId: wellFormed.nullable(),
  backup: outcome,
  deployments: z.array(
    z.looseObject({ target: z.looseObject({ kind: z.enum(TARGET_KINDS), id: idOf('Its id') }), outcome }),
  ),
  error: z.looseObject({ type: wellFormed, message: wellFormed }).nullable(),
  heldByEvent: wellFormed.nullable(),
  startedAt: wellFormed.nullable(),
  endedAt: wellFormed.nullable(),
});

const onGates = objectOf(
  {
    failed: reaction.optional(),
    inconclusive: reaction.optional(),
    patienceMs: wholeNumberWithin(LIMITS.patienceMs).optional(),
  },
  'onGates',
  PAGE,
);

const rolloutInput = objectOf(
  {
    name,
    fleet: name,
    key: idOf('The key'),
    maxAtOnce: wholeNumberWithin([1, MAX_AT_ONCE]),
    maxFailures: atLeast(0),
    onFailures: z.enum(['stop', 'pause'], { error: 'must be stop or pause' }),
    options: options.optional(),
    attempt: atLeast(1).optional(),
    onGates: onGates.optional(),
    previousResults: z.array(completedServer).optional(),
    passedWaves: z.array(idOf('A wave')).optional(),
    approval: oneOrMoreNames().optional(),
    waves,
    ...fieldsOfRun(['service', 'epoch', 'deploysUntil', 'override', 'noCheck', 'meta', 'heartbeat']),
  },
  "a rollout's input",
  PAGE,
);

/** @param input any JSON @returns the first problem, with its place, or null */
export function validateRolloutInput(input: unknown): string | null {
  const { error } = rolloutInput.safeParse(input);
  return error === undefined ? problemOfServers(input as RolloutInput) : firstProblem(error);
}

function problemOfServers({ waves: all, options: asked, previousResults = [] }: RolloutInput): string | null {
  for (const [index, { targets }] of all.entries())
    for (const [place, target] of targets.entries()) {
      const { serverId, siteIds, targets: deployed } = target;
      const type = (deployed ?? siteIds ?? []).length === 0 ? 'backupOnly' : 'backupThenDeploy';
      const problem =
        problemOfUnset(target) ?? problemForType(type, { ...asked, serverId, siteIds, targets: deployed } as never);
      if (problem !== null) return `waves[${index}].targets[${place}]: ${problem}`;
    }
  // A retry may have only gates left.
  const isEmpty = all.every(({ targets }) => targets.length === 0) && previousResults.length === 0;
  return isEmpty ? 'waves: contain no server' : null;
}
