/** The freezes and windows of belay.yaml as a list: what is active at an instant, and when each begins and ends. Pure. */
import type { BlockedAction, OverrideRule } from './shapes.ts';
import { localText } from '../../request/calendar/local-time.ts';
import type { Span } from '../../request/calendar/local-spans.ts';
import { freezeAt, nextFreeze, nextWindow, windowAt } from './worker-rules.ts';
import type { FreezeRules, Place, Scope } from './sections-rules.ts';
import { isInScope } from './scope.ts';

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
