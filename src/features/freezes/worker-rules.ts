/**
 * Finds the freezes and windows that hold a deployment or backup back at an instant. A minute that daylight saving
 * makes ambiguous counts as frozen. Pure.
 */
import type { BlockedAction, FreezeConfirmation, FreezeScope, FrozenBy, OverrideRule } from './shapes.ts';
import type { Configuration } from '../../config/load.ts';
import type { FreezeConfig, WindowConfig } from './config.ts';
import { knownIds, nameOf, spellingText, type NamedId } from '../../config/inventory.ts';
import type { Places } from '../../config/policy.ts';
import type { PlannedOperation } from '../../contract/target.ts';
import { freezeId } from '../../contract/ids.ts';
import { plainText } from '../../contract/safe-text.ts';
import { cronTimes } from '../../request/calendar/cron-times.ts';
import { localText } from '../../request/calendar/local-time.ts';
import {
  instantOf,
  localMsOf,
  nextSpan,
  spanAt,
  type Occurrences,
  type Span,
  type Recurrence,
} from '../../request/calendar/local-spans.ts';
import { isInScope, type Place, type Scope } from '../../config/file/scope.ts';

const WITH_AMBIGUOUS_MINUTES: Occurrences = { begins: 'first', ends: 'second' };
const WITHOUT_AMBIGUOUS_MINUTES: Occurrences = { begins: 'second', ends: 'first' };

/** A freeze or window of belay.yaml. Their names differ. */
interface Rule {
  kind: 'freeze' | 'window';
  name: string;
  timeZone: string;
  scope: Scope;
  reason: string | null;
  blocks: readonly BlockedAction[];
  override: OverrideRule;
  /** Returns the span that contains this instant, or null. */
  spanAt: (atMs: number) => Span | null;
  /** Returns the first span that begins after this instant, or null. */
  nextSpan: (afterMs: number) => Span | null;
}

function rulesOf({ freezes = {}, windows = {} }: Configuration): Rule[] {
  return [
    ...Object.entries(freezes).map(([name, config]) => freezeRule(name, config)),
    ...Object.entries(windows).map(([name, config]) => windowRule(name, config)),
  ];
}

function freezeRule(name: string, config: FreezeConfig): Rule {
  const { timeZone = 'UTC', reason, blocks = ['deploy'], override = 'reason', for: scope = {} } = config;
  return { kind: 'freeze', name, timeZone, scope, reason, blocks, override, ...spansOf(config, timeZone) };
}

function spansOf({ from = '', to = '', cron, lasts = 0 }: FreezeConfig, timeZone: string) {
  if (cron !== undefined)
    return recurring({ times: cronTimes(cron), lastsMs: lasts, timeZone }, WITH_AMBIGUOUS_MINUTES);
  const beginMs = instantOf(localMsOf(from), timeZone, WITH_AMBIGUOUS_MINUTES.begins);
  const once: Span = { beginMs, endMs: instantOf(localMsOf(to), timeZone, WITH_AMBIGUOUS_MINUTES.ends) };
  return {
    spanAt: (atMs: number) => (once.beginMs <= atMs && atMs < once.endMs ? once : null),
    nextSpan: (afterMs: number) => (once.beginMs > afterMs ? once : null),
  };
}

const recurring = (recurrence: Recurrence, occurrences: Occurrences) => ({
  spanAt: (atMs: number) => spanAt(recurrence, occurrences, atMs),
  nextSpan: (afterMs: number) => nextSpan(recurrence, occurrences, afterMs),
});

/** No deployment begins in the margin, the last part of a window. */
function windowRule(name: string, config: WindowConfig): Rule {
  const { cron, lasts, timeZone = 'UTC', margin = 0, for: scope = {} } = config;
  const spans = recurring({ times: cronTimes(cron), lastsMs: lasts, timeZone }, WITHOUT_AMBIGUOUS_MINUTES);
  const cut = (span: Span | null) => (span === null ? null : { ...span, endMs: span.endMs - margin });
  return {
    kind: 'window',
    name,
    timeZone,
    scope,
    reason: null,
    blocks: ['deploy'],
    override: 'reason',
    spanAt(atMs) {
      const span = cut(spans.spanAt(atMs));
      return span !== null && atMs < span.endMs ? span : null;
    },
    nextSpan: (afterMs) => cut(spans.nextSpan(afterMs)),
  };
}

/**
 * @param letOff the names of the freezes and windows that an override exempts the action from
 * @returns all that hold the action back; empty if it may begin
 */
function frozenBy(
  rules: readonly Rule[],
  { action, letOff }: { action: BlockedAction; letOff: ReadonlySet<string> },
  place: Place,
  atMs: number,
): FrozenBy[] {
  const fitting = rules.filter(({ blocks, scope }) => blocks.includes(action) && isInScope(scope, place));
  const windows = fitting.filter(({ kind }) => kind === 'window');
  const isLetOff = windows.some(({ name }) => letOff.has(name));
  return [
    ...fitting
      .filter(({ kind, name, override }) => kind === 'freeze' && (override === 'never' || !letOff.has(name)))
      .flatMap((it) => activeFreeze(it, atMs)),
    ...(isLetOff ? [] : closedWindows(windows, atMs)),
  ];
}

function activeFreeze(freeze: Rule, atMs: number): FrozenBy[] {
  const { name, reason, timeZone, override } = freeze;
  const span = freeze.spanAt(atMs);
  if (span === null) return [];
  const never = override === 'never' ? { override } : {};
  return [{ kind: 'freeze', name, reason: reason ?? '', ...end(span.endMs, timeZone), ...never }];
}

/** If any window is for a place, deployments there begin only inside a window. */
function closedWindows(windows: readonly Rule[], atMs: number): FrozenBy[] {
  if (windows.some((it) => it.spanAt(atMs) !== null)) return [];
  const openings = windows.map((it) => ({ ...it, atMs: it.nextSpan(atMs)?.beginMs ?? Infinity }));
  const [next] = openings.sort((a, b) => a.atMs - b.atMs);
  if (next === undefined) return [];
  const names = windows.map(({ name }) => name).join(', ');
  const reason = `deployments begin only inside the windows ${names}`;
  return [{ kind: 'window', name: next.name, reason, ...end(next.atMs, next.timeZone) }];
}

type End = Pick<FrozenBy, 'until' | 'untilText'>;

export const unknownEnd: End = { until: null, untilText: 'no known time' };

const end = (atMs: number, timeZone: string): End =>
  atMs === Infinity ? unknownEnd : { until: new Date(atMs).toISOString(), untilText: textOf(atMs, timeZone) };

const textOf = (atMs: number, timeZone: string): string => `${localText(new Date(atMs), timeZone)} (${timeZone})`;

/* Lists the freezes and windows of belay.yaml: what is active at an instant, and when each begins and ends. Pure. */

export interface ListedFreeze extends Pick<Rule, 'kind' | 'name' | 'reason' | 'blocks' | 'override'> {
  isActive: boolean;
  /** The begin of the current span, or of the next one. ISO 8601, or null if there is none. */
  from: string | null;
  until: string | null;
  /** For people, in the local time of the entry's time zone. */
  fromText: string | null;
  untilText: string | null;
  /** Without keys, the entry is for everything. */
  scope: Scope;
}

/** True for a freeze that is active, and for a window that is closed. */
export const holdsBack = ({ kind, isActive }: Pick<ListedFreeze, 'kind' | 'isActive'>): boolean =>
  kind === 'freeze' ? isActive : !isActive;

/** Lists the entries that are for one of these places. Without a place, lists all. */
function listFreezes(rules: readonly Rule[], places: readonly Place[], atMs: number): ListedFreeze[] {
  const fits = ({ scope }: Rule) => places.length === 0 || places.some((place) => isInScope(scope, place));
  const listed = rules.filter(fits).map((rule): ListedFreeze => {
    const { kind, name, timeZone, reason, blocks, override, scope } = rule;
    const now = rule.spanAt(atMs);
    const times = timesOf(now ?? rule.nextSpan(atMs), timeZone);
    return { kind, name, isActive: now !== null, ...times, reason, blocks, override, scope };
  });
  // Entries that hold something back come first, then those that begin next.
  const order = (it: ListedFreeze) => `${holdsBack(it) ? 0 : 1},${it.from ?? '~'}`;
  return listed.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

function timesOf(span: Span | null, timeZone: string): Pick<ListedFreeze, 'from' | 'until' | 'fromText' | 'untilText'> {
  if (span === null) return { from: null, until: null, fromText: null, untilText: null };
  const [from, until] = [span.beginMs, span.endMs].map((ms) => new Date(ms).toISOString()) as [string, string];
  return { from, until, fromText: textOf(span.beginMs, timeZone), untilText: textOf(span.endMs, timeZone) };
}

/* What a policy says of freezes and windows. */

export const actionOf = (operation: PlannedOperation): BlockedAction => ('target' in operation ? 'deploy' : 'backup');

export function freezesPolicy(configuration: Configuration, places: Places) {
  const rules = rulesOf(configuration);
  return {
    /** Says whether an ad-hoc freeze of a scope would hold back what it names. */
    confirm: confirmFreezes(configuration),
    /** Returns the freezes and windows of belay.yaml that hold the operation back. */
    frozenBy: (operation: PlannedOperation, atMs: number, letOff: ReadonlySet<string> = new Set()): FrozenBy[] => {
      const asked = { action: actionOf(operation), letOff };
      const found = places.of(operation).flatMap((place) => frozenBy(rules, asked, place, atMs));
      return [...new Map(found.map((it) => [`${it.kind}:${it.name}`, it])).values()];
    },
    /** Returns the freeze or window of belay.yaml with this name, or null. */
    overridable: (name: string) => {
      const rule = rules.find((it) => it.name === name);
      if (rule === undefined) return null;
      /** Returns when its current span ends, for people. Null if it is not active. */
      const endText = (atMs: number) => timesOf(rule.spanAt(atMs), rule.timeZone).untilText;
      return { kind: rule.kind, override: rule.override, endText };
    },
    /** Lists the freezes and windows of belay.yaml that are for these operations. */
    list: (operations: readonly PlannedOperation[], atMs: number) =>
      listFreezes(rules, operations.flatMap(places.of), atMs),
    /** Returns the workflow ids of the ad-hoc freezes that would hold the operation back. */
    adHocIds: (operation: PlannedOperation) => [
      ...new Set(places.of(operation).flatMap((place) => adHocIds(operation, place))),
    ],
  };
}

/** A freeze of a site or app holds no backup back, because only servers have backups. */
function adHocIds(operation: PlannedOperation, { fleet, serverIds }: Place): string[] {
  const scopes: FreezeScope[] = [
    { kind: 'all' },
    ...(fleet === null ? [] : [{ kind: 'fleet' as const, id: fleet }]),
    ...serverIds.map((id) => ({ kind: 'server' as const, id })),
    ...('target' in operation ? [operation.target] : []),
  ];
  return scopes.map(freezeId);
}

/* Checks an ad-hoc freeze against belay.yaml when it begins. Pure. */

/** Says whether the file knows what an ad-hoc freeze is for. */
function confirmFreezes(configuration: Configuration): (scope: FreezeScope) => FreezeConfirmation {
  const { fleets = {}, inventory } = configuration;
  const { has, respelled } = knownIds(configuration);
  const problem = (text: string): FreezeConfirmation => ({ problem: text, note: null });
  return (scope) => {
    if (scope.kind === 'all') return NO_OBJECTION;
    if (scope.kind === 'fleet')
      return Object.hasOwn(fleets, scope.id) ? NO_OBJECTION : problem(noFleet(scope.id, fleets));
    const named: NamedId = { kind: scope.kind, id: scope.id };
    if (has(named)) return NO_OBJECTION;
    const known = respelled(named);
    if (known !== null) return problem(spellingText(named, known));
    const parts = scope.id.split(/[,;\s]+/);
    if (parts.length > 1 && parts.some((id) => has({ ...named, id })))
      return problem(`${nameOf(named)} is a list: give --${scope.kind} once for each`);
    if (inventory === 'strict') return problem(`no fleet has ${nameOf(named)}: correct it, or add it under fleets`);
    // Without fleets, no site is known to be on a server.
    if (Object.keys(fleets).length > 0 || scope.kind === 'server')
      return {
        problem: null,
        note: `no fleet has ${nameOf(named)}, so the freeze holds back only what names exactly this id`,
      };
    const isOdd = /[,;\s]|:\/\//u.test(scope.id);
    return { problem: null, note: isOdd ? `${nameOf(named)} is taken as one id: check it` : null };
  };
}

const NO_OBJECTION: FreezeConfirmation = { problem: null, note: null };

function noFleet(id: string, fleets: object): string {
  const names = Object.keys(fleets).map((it) => plainText(it));
  const known = names.length === 0 ? 'it has no fleets' : `only ${names.join(', ')}`;
  return `there is no fleet ${plainText(id)}, ${known}: correct the name, or add the fleet under fleets`;
}
