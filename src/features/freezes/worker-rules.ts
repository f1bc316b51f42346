/**
 * Finds the freezes and windows that hold a deployment or backup back at an instant. A minute that daylight saving
 * makes ambiguous counts as frozen. Pure.
 */
import type { BlockedAction, FreezeScope, FrozenBy, OverrideRule } from './shapes.ts';
import type { Configuration } from '../../config/load.ts';
import type { FreezeConfig, WindowConfig } from './config.ts';
import { wordOnFreezes } from '../../config/inventory.ts';
import type { Places, PlannedOperation } from '../../config/policy.ts';
import { freezeId } from '../../contract/ids.ts';
import { cronTimes } from '../../request/calendar/cron-times.ts';
import { localText } from '../../request/calendar/local-time.ts';
import {
  instantOf,
  localMsOf,
  nextSpan,
  spanAt,
  type Doubt,
  type Span,
  type Recurrence,
} from '../../request/calendar/local-spans.ts';
import { isInScope, type Place, type Scope } from '../../config/file/scope.ts';

const FREEZES: Doubt = { begins: 'first', ends: 'second' };
const WINDOWS: Doubt = { begins: 'second', ends: 'first' };

/** @param letOff names of what does not hold it back @returns everything that holds it back; empty if it may go */
function frozenBy(
  rules: FreezeRules,
  { action, letOff }: { action: BlockedAction; letOff: ReadonlySet<string> },
  place: Place,
  atMs: number,
): FrozenBy[] {
  const freezes = rules.freezes
    .filter((it) => it.blocks.includes(action) && isInScope(it.scope, place))
    .flatMap((it) => activeFreeze(it, atMs))
    .filter(({ name, override }) => override === 'never' || !letOff.has(name));
  if (action === 'backup') return freezes;
  const windows = rules.windows.filter(({ scope }) => isInScope(scope, place));
  const isLetOff = windows.some(({ name }) => letOff.has(name));
  return isLetOff ? freezes : [...freezes, ...closedWindows(windows, atMs)];
}

function activeFreeze(freeze: FreezeRule, atMs: number): FrozenBy[] {
  const span = freezeAt(freeze, atMs);
  if (span === null) return [];
  const { name, reason, when, override } = freeze;
  const never = override === 'never' ? { override } : {};
  return [{ kind: 'freeze', name, reason, ...end(span.endMs, when.timeZone), ...never }];
}

/** Returns the span of the freeze that is active at this instant, or null. */
function freezeAt({ when }: FreezeRule, atMs: number): Span | null {
  if ('times' in when) return spanAt(when, FREEZES, atMs);
  const span = onceFrom(when);
  return span.beginMs <= atMs && atMs < span.endMs ? span : null;
}

/** Returns the next span that begins after this instant, or null. */
function nextFreeze({ when }: FreezeRule, afterMs: number): Span | null {
  if ('times' in when) return nextSpan(when, FREEZES, afterMs);
  const span = onceFrom(when);
  return span.beginMs > afterMs ? span : null;
}

function onceFrom({ fromMs, toMs, timeZone }: Exclude<FreezeRule['when'], { times: unknown }>): Span {
  return {
    beginMs: instantOf(fromMs, timeZone, FREEZES.begins),
    endMs: instantOf(toMs, timeZone, FREEZES.ends),
  };
}

/** If any window is for a place, deployments there begin only inside a window. */
function closedWindows(windows: readonly WindowRule[], atMs: number): FrozenBy[] {
  if (windows.some((it) => windowAt(it, atMs) !== null)) return [];
  const openings = windows.map((it) => ({
    name: it.name,
    timeZone: it.when.timeZone,
    atMs: nextWindow(it, atMs)?.beginMs ?? Infinity,
  }));
  const [next] = openings.sort((a, b) => a.atMs - b.atMs);
  if (next === undefined) return [];
  const names = windows.map(({ name }) => name).join(', ');
  const reason = `deployments begin only inside the windows ${names}`;
  return [{ kind: 'window', name: next.name, reason, ...end(next.atMs, next.timeZone) }];
}

/** Returns the open window without its margin, or null. */
function windowAt({ when, marginMs }: WindowRule, atMs: number): Span | null {
  const span = spanAt(when, WINDOWS, atMs);
  return span !== null && atMs < span.endMs - marginMs ? { ...span, endMs: span.endMs - marginMs } : null;
}

function nextWindow({ when, marginMs }: WindowRule, afterMs: number): Span | null {
  const span = nextSpan(when, WINDOWS, afterMs);
  return span === null ? null : { ...span, endMs: span.endMs - marginMs };
}

type End = Pick<FrozenBy, 'until' | 'untilText'>;

export const unknownEnd: End = { until: null, untilText: 'no known time' };

function end(atMs: number, timeZone: string): End {
  if (atMs === Infinity) return unknownEnd;
  const at = new Date(atMs);
  return { until: at.toISOString(), untilText: `${localText(at, timeZone)} (${timeZone})` };
}

/* Lists the freezes and windows of belay.yaml: what is active at an instant, and when each begins and ends. Pure. */

export interface ListedFreeze {
  kind: 'freeze' | 'window';
  name: string;
  isActive: boolean;
  /** The begin of the current span, or of the next one. ISO 8601, or null if there is none. */
  from: string | null;
  until: string | null;
  /** For people, in the local time of the entry's time zone. */
  fromText: string | null;
  untilText: string | null;
  reason: string | null;
  blocks: readonly BlockedAction[];
  override: OverrideRule;
  /** Without keys, the entry is for everything. */
  scope: Scope;
}

/** @param places only those that are for one of them; without one, all */
function listFreezes({ freezes, windows }: FreezeRules, places: readonly Place[], atMs: number): ListedFreeze[] {
  const fits = ({ scope }: { scope: Scope }) => places.length === 0 || places.some((place) => isInScope(scope, place));
  const listed = [
    ...freezes.filter(fits).map((rule): ListedFreeze => {
      const active = freezeAt(rule, atMs);
      const times = timesOf(active ?? nextFreeze(rule, atMs), rule.when.timeZone);
      const { name, reason, blocks, override, scope } = rule;
      return { kind: 'freeze', name, isActive: active !== null, ...times, reason, blocks, override, scope };
    }),
    ...windows.filter(fits).map((rule): ListedFreeze => {
      const open = windowAt(rule, atMs);
      const times = timesOf(open ?? nextWindow(rule, atMs), rule.when.timeZone);
      const { name, scope } = rule;
      const blocks: BlockedAction[] = ['deploy'];
      return {
        kind: 'window',
        name,
        isActive: open !== null,
        ...times,
        reason: null,
        blocks,
        override: 'reason',
        scope,
      };
    }),
  ];
  // Entries that hold something back come first, then those that begin next.
  const order = ({ kind, isActive, from }: ListedFreeze) => [(kind === 'freeze') === isActive ? 0 : 1, from ?? '~'];
  return listed.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

function timesOf(span: Span | null, timeZone: string): Pick<ListedFreeze, 'from' | 'until' | 'fromText' | 'untilText'> {
  if (span === null) return { from: null, until: null, fromText: null, untilText: null };
  const [from, until] = [new Date(span.beginMs), new Date(span.endMs)];
  const text = (at: Date) => `${localText(at, timeZone)} (${timeZone})`;
  return { from: from.toISOString(), until: until.toISOString(), fromText: text(from), untilText: text(until) };
}

/* The rules of a policy, as the workers apply them. */

/** Local times, in milliseconds since 1970 as if the zone were UTC. */
interface LocalSpan {
  fromMs: number;
  toMs: number;
  timeZone: string;
}

interface FreezeRule {
  name: string;
  when: Recurrence | LocalSpan;
  scope: Scope;
  reason: string;
  blocks: readonly BlockedAction[];
  override: OverrideRule;
}

interface WindowRule {
  name: string;
  when: Recurrence;
  scope: Scope;
  /** No deployment begins in this last part of a window. */
  marginMs: number;
}

interface FreezeRules {
  freezes: readonly FreezeRule[];
  windows: readonly WindowRule[];
}

/* What a policy says of freezes and windows. */

export const actionOf = (operation: PlannedOperation): BlockedAction => ('target' in operation ? 'deploy' : 'backup');

export function freezesPolicy(configuration: Configuration, places: Places) {
  const rules = freezeRules(configuration);
  return {
    /** Whether an ad-hoc freeze would hold back what it names. */
    wordOn: wordOnFreezes(configuration),
    /** What of belay.yaml holds it back. */
    frozenBy: (operation: PlannedOperation, atMs: number, letOff: ReadonlySet<string> = new Set()): FrozenBy[] => {
      const asked = { action: actionOf(operation), letOff };
      const found = places.of(operation).flatMap((place) => frozenBy(rules, asked, place, atMs));
      return [...new Map(found.map((it) => [`${it.kind}:${it.name}`, it])).values()];
    },
    /** What of belay.yaml has this name, and whether a run may be let off. Null if nothing has. */
    overridable: (name: string) => overridable(rules, name),
    /** What belay.yaml has for these operations. */
    list: (operations: readonly PlannedOperation[], atMs: number) =>
      listFreezes(rules, operations.flatMap(places.of), atMs),
    /** Workflow ids of the ad-hoc freezes that would hold it back. */
    adHocIds: (operation: PlannedOperation) => [
      ...new Set(places.of(operation).flatMap((place) => adHocIds(operation, place))),
    ],
  };
}

export interface Overridable {
  kind: 'freeze' | 'window';
  override: OverrideRule;
}

function overridable({ freezes, windows }: FreezeRules, name: string): Overridable | null {
  const freeze = freezes.find((it) => it.name === name);
  if (freeze !== undefined) return { kind: 'freeze', override: freeze.override };
  return windows.some((it) => it.name === name) ? { kind: 'window', override: 'reason' } : null;
}

/** A site has no backup, so only freezes of its server hold that back. */
function adHocIds(operation: PlannedOperation, { fleet, serverIds }: Place): string[] {
  const scopes: FreezeScope[] = [
    { kind: 'all' },
    ...(fleet === null ? [] : [{ kind: 'fleet' as const, id: fleet }]),
    ...serverIds.map((id) => ({ kind: 'server' as const, id })),
    ...('target' in operation ? [operation.target] : []),
  ];
  return [...new Set(scopes.map(freezeId))];
}

function freezeRules({ freezes = {}, windows = {} }: Configuration): FreezeRules {
  return {
    freezes: Object.entries(freezes).map(([name, config]) => freezeRule(name, config)),
    windows: Object.entries(windows).map(([name, config]) => windowRule(name, config)),
  };
}

function freezeRule(name: string, config: FreezeConfig): FreezeRule {
  const { timeZone = 'UTC', reason, blocks = ['deploy'], override = 'reason' } = config;
  return { name, when: { ...whenOf(config), timeZone }, scope: config.for ?? {}, reason, blocks, override };
}

function whenOf({ from = '', to = '', cron, lasts = 0 }: FreezeConfig) {
  if (cron !== undefined) return { times: cronTimes(cron), lastsMs: lasts };
  return { fromMs: localMsOf(from), toMs: localMsOf(to) };
}

function windowRule(name: string, config: WindowConfig): WindowRule {
  const { cron, lasts, timeZone = 'UTC', margin = 0 } = config;
  const when = { times: cronTimes(cron), lastsMs: lasts, timeZone };
  return { name, when, scope: config.for ?? {}, marginMs: margin };
}
