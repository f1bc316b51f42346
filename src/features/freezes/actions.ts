/** Implements `belay freeze`, `thaw` and `freezes`, and the freezes of a dry run. */
import { existsSync } from 'node:fs';
import colors from 'picocolors';
import {
  type AdHocFreeze,
  type FreezeScope,
  type FrozenBy,
  type FrozenParts,
  type LetOff,
  type RunningFreeze,
  SCOPE_KINDS,
} from './shapes.ts';
import { freezeId } from '../../contract/ids.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { BelayError, EXIT } from '../../contract/errors.ts';
import { blocksText, scopeText, frozenText, utcText } from './text.ts';
import { plainText } from '../../contract/safe-text.ts';
import { printAnswer, printDocument } from '../../process/json-document.ts';
import { print, printNote } from '../../process/print.ts';
import type { Thawed, Belay } from '../../starter.ts';
import { inTurn, withBelay, reportEndpoints } from '../../cli/open-belay.ts';
import { configFile } from '../../config/environment/environment.ts';
import { readConfiguration, refuseInventoryConflict, type Configuration } from '../../config/load.ts';
import { buildInventory, knownIds, nameOf, targetsOn } from '../../config/inventory.ts';
import {
  operationsOf,
  siteTarget,
  targetText,
  type PlannedOperation,
  type RunParts,
  type Target,
} from '../../contract/target.ts';
import { createFreezeJudge, type FindFreezes, type FreezeJudge } from './worker.ts';
import { policyOf } from '../../config/policy.ts';
import { noteUnreadable } from '../../cli/run-text.ts';
import { TIMING } from '../../contract/timing.ts';
import { aboutText } from '../../contract/duration.ts';
import { holdsBack, type ListedFreeze } from './worker-rules.ts';
import { heldPart } from './rules.ts';
import { planRun } from '../../request/run-options.ts';
import type { DryRunPart, Planned } from '../../cli/dry-run.ts';

interface ScopeOptions {
  fleet?: string[];
  server?: string[];
  site?: string[];
  app?: string[];
}

export interface FreezeOptions extends ScopeOptions {
  until?: string;
  /** Milliseconds. */
  for?: number;
  reason: string;
  override: boolean;
  backups?: boolean;
  extend?: boolean;
  by?: string;
  json?: boolean;
}

export async function beginFreeze({ json: asJson, ...options }: FreezeOptions): Promise<void> {
  const { until, for: forMs, reason, by, backups, extend, override } = options;
  if (until === undefined && forMs === undefined)
    throw new BelayError('Usage', 'a freeze needs an end: give --until TIME or --for DURATION');
  const scopes = scopesOf(options);
  await reportEndpoints(undefined);
  const how = {
    reason,
    override: override ? ('reason' as const) : ('never' as const),
    ...definedFields({ until, forMs, by, backups, extend }),
  };
  const begun = await withBelay((belay) =>
    inTurn(
      scopes,
      (scope) => belay.freezes.begin({ scope, ...how }).catch(nameOption),
      (it) => frozenLine(it.freeze),
    ),
  );
  const freezes = begun.map(({ freeze: it }) => ({ workflowId: freezeId(it.scope), freeze: it }));
  printNote(begun.flatMap(({ note }) => (note === null ? [] : [`note: ${note}`])));
  const lines = freezes.flatMap(({ workflowId, freeze: it }) => [frozenLine(it), `  freeze: ${workflowId}`]);
  printAnswer(asJson, { ...freezes[0], freezes }, lines);
}

/** The library calls the field `until`. */
function nameOption(error: unknown): never {
  if (error instanceof BelayError && error.message.startsWith('until: '))
    throw new BelayError(error.type, `--${error.message}`);
  throw error;
}

const frozenLine = (freeze: AdHocFreeze): string =>
  `${scopeText(freeze.scope, plainText)} is frozen until ${utcText(freeze.until)}: ${blocksText(freeze)} are held back`;

export interface ThawOptions extends ScopeOptions {
  reason: string;
  by?: string;
  json?: boolean;
}

export async function thaw({ reason, by, json: asJson, ...options }: ThawOptions): Promise<void> {
  const scopes = scopesOf(options);
  await reportEndpoints(undefined);
  const why = { reason, ...definedFields({ by }) };
  const thawed = await withBelay((belay) =>
    inTurn(
      scopes,
      async (scope) => ({ workflowId: freezeId(scope), ...(await belay.freezes.thaw(scope, why)) }),
      thawedLine,
    ),
  );
  const freezes = thawed.map(({ workflowId, freeze: ended }) => ({ workflowId, freeze: ended }));
  const woken = [...new Set(thawed.flatMap((it) => it.woken))];
  printAnswer(asJson, { ...freezes[0], woken, freezes }, thawed.map(thawedLine));
}

const thawedLine = ({ workflowId, woken }: Thawed & { workflowId: string }): string =>
  `${workflowId} has ended${woken.length === 0 ? '' : '; what waited for it looks again within a minute'}`;

/** @throws BelayError if they are of several kinds: some would expect a freeze of what these have in common */
function scopesOf(options: ScopeOptions): FreezeScope[] {
  const [first, second] = SCOPE_KINDS.filter((kind) => options[kind] !== undefined);
  if (second !== undefined)
    throw new BelayError(
      'Usage',
      `--${first} and --${second} cannot be given together: give each a command of its own`,
    );
  const scopes = SCOPE_KINDS.flatMap((kind) => (options[kind] ?? []).map((id) => ({ kind, id })));
  return scopes.length === 0 ? [{ kind: 'all' }] : scopes;
}

/* `belay freezes` lists freezes and windows. Its exit code tells whether something is frozen. */

export interface FreezesOptions {
  targets?: Target[];
  at?: string;
  json?: boolean;
}

export async function printFreezes({ targets = [], at, json: asJson }: FreezesOptions): Promise<void> {
  const configuration = await readConfiguration();
  await refuseInventoryConflict(configuration, { targets });
  const atMs = at === undefined ? Date.now() : Date.parse(at);
  const { frozen, entries, running } = await withBelay((belay) => listed(belay, configuration, targets, atMs));
  noteUnreadable(running);
  process.exitCode = frozen ? EXIT.busy : EXIT.completed;
  if (asJson === true) return printDocument({ at: new Date(atMs).toISOString(), frozen, freezes: entries });
  print(entries.length === 0 ? 'no freezes and no windows' : entries.map((it) => entryLine(it, atMs)));
  printNote(unlistedNotes(configuration, targets));
  const { path } = configFile();
  printNote(
    existsSync(path)
      ? `freezes and windows of ${path} are those of this machine: the workers judge by their own file`
      : `there is no ${path} here, so the freezes and windows that the workers plan are not listed`,
  );
}

/** `belay freeze` prints the same about a freeze of such an id. */
function unlistedNotes(configuration: Configuration, targets: readonly Target[]): string[] {
  if (Object.keys(configuration.fleets ?? {}).length === 0) return [];
  const { has } = knownIds(configuration);
  const unlisted = targets.filter((it) => !has(it));
  return unlisted.map((it) => `note: no fleet has ${nameOf(it)}: check the id`);
}

async function listed(
  belay: Belay,
  configuration: Configuration,
  targets: readonly Target[],
  atMs: number,
): Promise<{ frozen: boolean; entries: FreezeEntry[]; running: RunningFreeze[] }> {
  const policy = policyOf(configuration);
  const operations = targets.map((target) => ({ target }));
  const ids = [...new Set(operations.flatMap(policy.adHocIds))];
  const running = await (operations.length === 0 ? belay.freezes.list() : belay.freezes.find(ids));
  const entries = [
    ...running.map((it) => adHocEntry(it, atMs)),
    ...policy.list(operations, atMs).map((it) => fileEntry(it)),
  ];
  if (operations.length === 0) {
    const isActive = entries.some((it) => it.kind === 'freeze' && it.isActive);
    const isClosed = deploymentsIn(configuration).some((it) =>
      policy.frozenBy(it, atMs).some(({ kind }) => kind === 'window'),
    );
    return { frozen: isActive || isClosed, entries, running };
  }
  const judge = createFreezeJudge(
    () => Promise.resolve(policy),
    () => Promise.resolve(running),
  );
  const frozenAt = await judge.look({ operations }, TIMING.client.startMs);
  return { frozen: operations.some((it) => frozenAt(it, atMs).length > 0), entries, running };
}

/** Every deployment that the windows of the file may treat differently, including that of a site in no fleet. */
function deploymentsIn({ fleets, windows = {} }: Configuration): PlannedOperation[] {
  const other = siteTarget('');
  const scopes = Object.values(windows).map((it) => it.for ?? {});
  return [
    ...[...buildInventory(fleets).servers.values()].flatMap(({ serverId, targets }) =>
      (targets.length === 0 ? [other] : targets).map((target) => ({ target, serverId })),
    ),
    ...scopes.flatMap(({ servers = [] }) => servers.map((serverId) => ({ target: other, serverId }))),
    ...scopes.flatMap((it) => targetsOn(it)).map((target) => ({ target })),
    { target: other },
  ];
}

export interface FreezeEntry extends Omit<ListedFreeze, 'scope'> {
  source: 'belay freeze' | 'belay.yaml';
  by: string | null;
  for: AdHocFreeze['scope'] | ListedFreeze['scope'] | null;
}

export function adHocEntry({ workflowId, freeze }: RunningFreeze, atMs: number): FreezeEntry {
  const shared = { kind: 'freeze', source: 'belay freeze', name: workflowId } as const;
  if (freeze === null) return { ...shared, ...UNREADABLE };
  const { since, until, reason, by, blocks, override, scope } = freeze;
  const isActive = atMs < Date.parse(until);
  const times = { from: since, until, fromText: utcText(since), untilText: utcText(until) };
  return { ...shared, isActive, ...times, reason, by, blocks, override, for: scope };
}

const UNREADABLE = {
  isActive: true,
  from: null,
  until: null,
  fromText: null,
  untilText: null,
  by: null,
  for: null,
  reason: 'its memo cannot be read',
  blocks: ['deploy', 'backup'],
  override: 'never',
} as const;

export const fileEntry = ({ scope, ...freeze }: ListedFreeze): FreezeEntry => ({
  ...freeze,
  source: 'belay.yaml',
  by: null,
  for: scope,
});

/** `frozen  christmas until 2027-01-04 06:00 (Europe/Berlin), 12h more: the shop's season` */
export function entryLine(entry: FreezeEntry, atMs: number): string {
  const line = entryText(entry, atMs);
  return holdsBack(entry) ? colors.yellow(line) : line;
}

export function entryText(entry: FreezeEntry, atMs: number): string {
  const { name, isActive, until, fromText, untilText, reason, by } = entry;
  const leftMs = until === null ? null : Math.max(0, Date.parse(until) - atMs);
  const left = isActive && leftMs !== null ? `, ${aboutText(leftMs)} more` : '';
  const times = isActive ? `until ${untilText ?? 'no known time'}${left}` : nextText(fromText, untilText);
  const who = by === null ? '' : `, by ${plainText(by)}`;
  const why = reason === null ? '' : `: ${plainText(reason)}`;
  return `${stateOf(entry, atMs).padEnd(8)} ${plainText(name)}${forText(entry)} ${times}${who}${why}`;
}

function stateOf({ kind, isActive, from, until }: FreezeEntry, atMs: number): string {
  if (kind === 'window') return isActive ? 'open' : 'closed';
  if (isActive) return 'frozen';
  return from === null || Date.parse(until ?? from) <= atMs ? 'over' : 'later';
}

const nextText = (from: string | null, until: string | null): string =>
  from === null ? 'never again' : `from ${from} until ${until}`;

/** Empty if the freeze is for everything, or if its name already says what it is for. */
function forText({ source, for: scope }: FreezeEntry): string {
  if (scope === null || source === 'belay freeze') return '';
  const parts = Object.entries(scope).map(([key, value]) =>
    Array.isArray(value) ? `${key} ${value.join(', ')}` : `${key} ${JSON.stringify(value)}`,
  );
  return parts.length === 0 ? '' : ` (for ${plainText(parts.join('; '))})`;
}

/* Shows what would be held back now. Workers judge by their own belay.yaml; this command reads that of its machine. */

/** Above this number, one search costs Temporal less than a question for each id. */
const MAX_ASKED = 100;

export const freezesPart: DryRunPart = {
  name: 'freezes',
  async look(planned, { belay, policy }) {
    const judge = createFreezeJudge(() => Promise.resolve(policy), findIn(belay));
    const operations = planned.runs.flatMap(operationsOf);
    const letOff = await letOffBy(planned, judge);
    const frozenAt = await judge.look({ operations, letOff }, TIMING.client.startMs);
    const nowMs = Date.now();
    const frozen = operations
      .map((it) => ({ what: textOf(it), by: frozenAt(it, nowMs) }))
      .filter(({ by }) => by.length > 0);
    const plan = planRun(planned.options);
    const { ifFrozen } = plan;
    const mayPass = plan.keepGoing && ifFrozen === 'fail';
    const [first] = planned.runs;
    const isHeldAtOnce =
      first !== undefined &&
      heldPart(
        frozenIn(first, (it) => frozenAt(it, nowMs)),
        first,
        mayPass,
      ) !== null;
    const before = mayPass && planned.rollout === null ? 'do the rest' : 'do what comes before that';
    const end = ifFrozen === 'wait' ? 'wait' : 'end with Frozen, exit code 5';
    return {
      value: { frozen, letOff, ifFrozen },
      lines: [
        ...letOff.map(({ kind, name }) => `let off: the ${kind} "${name}"`),
        ...(frozen.length === 0 ? ['freezes: none holds it back now'] : []),
        ...frozen.map(({ what, by }) => `freezes: ${what}: ${frozenText(by)}`),
        ...(frozen.length > 0 ? [`it would ${isHeldAtOnce ? end : `${before}, and ${end}`}`] : []),
      ],
    };
  },
};

function frozenIn(run: RunParts, byOf: (it: PlannedOperation) => FrozenBy[]): FrozenParts {
  const operations = operationsOf(run);
  return {
    backup: operations.filter((it) => !('target' in it)).flatMap(byOf),
    deployments: operations
      .flatMap((it) => ('target' in it ? [{ target: it.target, by: byOf(it) }] : []))
      .filter(({ by }) => by.length > 0),
  };
}

const findIn =
  ({ freezes }: Belay): FindFreezes =>
  async (ids) => {
    if (ids.length <= MAX_ASKED) return freezes.find(ids);
    const running = await freezes.list();
    return running.filter(({ workflowId }) => ids.includes(workflowId));
  };

async function letOffBy({ options: { override } }: Planned, judge: FreezeJudge): Promise<LetOff[]> {
  if (override === undefined) return [];
  const answer = await judge.override(override.freezes, Date.now(), TIMING.client.startMs);
  if ('error' in answer) throw new BelayError(answer.error.type, answer.error.message);
  return answer.letOff;
}

const textOf = (operation: PlannedOperation): string =>
  'target' in operation ? `deployment of ${targetText(operation.target)}` : `backup of server ${operation.serverId}`;
