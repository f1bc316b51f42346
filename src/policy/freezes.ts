/**
 * Which freezes and windows hold a deployment or backup back at an instant. Where daylight saving makes a minute
 * doubtful, it is frozen. Pure.
 */
import type { FrozenBy } from '../contract/freeze.ts';
import { localText } from '../request/calendar/local-time.ts';
import { instantOf, nextSpan, spanAt, type Doubt, type Span } from '../request/calendar/local-spans.ts';
import type { Action, FreezeRule, FreezeRules, Place, WindowRule } from './rules.ts';
import { isInScope } from './scope.ts';

const FREEZES: Doubt = { begins: 'first', ends: 'second' };
const WINDOWS: Doubt = { begins: 'second', ends: 'first' };

/** Everything that holds it back; empty if it may go. */
export function frozenBy(rules: FreezeRules, action: Action, place: Place, atMs: number): FrozenBy[] {
  const freezes = rules.freezes
    .filter((it) => it.blocks.includes(action) && isInScope(it.scope, place))
    .flatMap((it) => activeFreeze(it, atMs));
  if (action === 'backup') return freezes;
  const windows = rules.windows.filter(({ scope }) => isInScope(scope, place));
  return [...freezes, ...closedWindows(windows, atMs)];
}

function activeFreeze(freeze: FreezeRule, atMs: number): FrozenBy[] {
  const span = freezeAt(freeze, atMs);
  if (span === null) return [];
  const { name, reason, when } = freeze;
  return [{ kind: 'freeze', name, reason, ...end(span.endMs, when.timeZone) }];
}

function freezeAt({ when }: FreezeRule, atMs: number): Span | null {
  if ('times' in when) return spanAt(when, FREEZES, atMs);
  const beginMs = instantOf(when.fromMs, when.timeZone, FREEZES.begins);
  const endMs = instantOf(when.toMs, when.timeZone, FREEZES.ends);
  return beginMs <= atMs && atMs < endMs ? { beginMs, endMs } : null;
}

/** Where windows fit, deployments begin only inside one of them. */
function closedWindows(windows: readonly WindowRule[], atMs: number): FrozenBy[] {
  if (windows.some((it) => isOpen(it, atMs))) return [];
  const openings = windows.map(({ name, when }) => ({
    name,
    timeZone: when.timeZone,
    atMs: nextSpan(when, WINDOWS, atMs)?.beginMs ?? Infinity,
  }));
  const [next] = openings.sort((a, b) => a.atMs - b.atMs);
  if (next === undefined) return [];
  const names = windows.map(({ name }) => name).join(', ');
  const reason = `deployments begin only inside the windows ${names}`;
  return [{ kind: 'window', name: next.name, reason, ...end(next.atMs, next.timeZone) }];
}

function isOpen({ when, marginMs }: WindowRule, atMs: number): boolean {
  const span = spanAt(when, WINDOWS, atMs);
  return span !== null && atMs < span.endMs - marginMs;
}

function end(atMs: number, timeZone: string): Pick<FrozenBy, 'until' | 'untilText'> {
  if (atMs === Infinity) return { until: null, untilText: 'no known time' };
  const at = new Date(atMs);
  return { until: at.toISOString(), untilText: `${localText(at, timeZone)} (${timeZone})` };
}
