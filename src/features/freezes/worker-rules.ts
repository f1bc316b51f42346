/**
 * Which freezes and windows hold a deployment or backup back at an instant. Where daylight saving makes a minute
 * doubtful, it is frozen. Pure.
 */
import type { BlockedAction, FrozenBy, OverrideRule } from './shapes.ts';
import { localText } from '../../request/calendar/local-time.ts';
import {
  instantOf,
  nextSpan,
  spanAt,
  type Doubt,
  type Span,
  type Recurrence,
} from '../../request/calendar/local-spans.ts';
import type { Target } from '../../contract/target.ts';

const FREEZES: Doubt = { begins: 'first', ends: 'second' };
const WINDOWS: Doubt = { begins: 'second', ends: 'first' };

/** @param letOff names of what does not hold it back @returns everything that holds it back; empty if it may go */
export function frozenBy(
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

/** When the freeze that is active then begins and ends, or null. */
function freezeAt({ when }: FreezeRule, atMs: number): Span | null {
  if ('times' in when) return spanAt(when, FREEZES, atMs);
  const span = onceFrom(when);
  return span.beginMs <= atMs && atMs < span.endMs ? span : null;
}

/** The first one that begins later, or null. */
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

/** Where windows fit, deployments begin only inside one of them. */
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

/** The window in which deployments begin then, without its margin; or null. */
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

/* The freezes and windows of belay.yaml as a list: what is active at an instant, and when each begins and ends. Pure. */

export interface ListedFreeze {
  kind: 'freeze' | 'window';
  name: string;
  /** Whether the freeze is active, or the window open. */
  isActive: boolean;
  /** Of the span now, or of the next one: ISO 8601. Null if there is none. */
  from: string | null;
  until: string | null;
  /** For people: on the clocks of its time zone. */
  fromText: string | null;
  untilText: string | null;
  /** Null for a window. */
  reason: string | null;
  blocks: readonly BlockedAction[];
  override: OverrideRule;
  /** Empty: everything. */
  scope: Scope;
}

/** @param places only those that are for one of them; without one, all */
export function listFreezes({ freezes, windows }: FreezeRules, places: readonly Place[], atMs: number): ListedFreeze[] {
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
  // Those that hold something back come first, then those that begin next.
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

/** What an entry is for. Any value of a key has to fit, and every key. Without keys, it is for everything. */
export interface Scope {
  fleets?: string[] | undefined;
  servers?: string[] | undefined;
  sites?: string[] | undefined;
  apps?: string[] | undefined;
  labels?: Record<string, string> | undefined;
}

/** Where an operation happens. */
export interface Place {
  /** What is deployed, or everything on the server that is backed up. */
  targets: Target[];
  /** The server of the inventory, and the one that the run names. */
  serverIds: string[];
  /** Null if no fleet has it. */
  fleet: string | null;
  labels: Record<string, string>;
}

/** Local times, in milliseconds since 1970 as if the zone were UTC. */
interface LocalSpan {
  fromMs: number;
  toMs: number;
  timeZone: string;
}

export interface FreezeRule {
  name: string;
  when: Recurrence | LocalSpan;
  scope: Scope;
  reason: string;
  blocks: readonly BlockedAction[];
  override: OverrideRule;
}

export interface WindowRule {
  name: string;
  when: Recurrence;
  scope: Scope;
  /** Nothing begins in this last part of a window. */
  marginMs: number;
}

export interface FreezeRules {
  freezes: readonly FreezeRule[];
  windows: readonly WindowRule[];
}

/* Whether an entry of the policy is for a place. Pure. */

export function isInScope({ fleets, servers, sites, apps, labels = {} }: Scope, place: Place): boolean {
  const named = { site: sites, app: apps };
  const isNamed = place.targets.some(({ kind, id }) => named[kind]?.includes(id));
  return (
    (isNamed || (sites === undefined && apps === undefined)) &&
    (fleets === undefined || (place.fleet !== null && fleets.includes(place.fleet))) &&
    (servers === undefined || place.serverIds.some((it) => servers.includes(it))) &&
    Object.entries(labels).every(([name, value]) => place.labels[name] === value)
  );
}
