/**
 * Which freezes and windows hold a deployment or backup back at an instant. Where daylight saving makes a minute
 * doubtful, it is frozen. Pure.
 */
import type { BlockedAction, FrozenBy } from './shapes.ts';
import { localText } from '../../request/calendar/local-time.ts';
import { instantOf, nextSpan, spanAt, type Doubt, type Span } from '../../request/calendar/local-spans.ts';
import type { FreezeRule, FreezeRules, Place, WindowRule } from './sections-rules.ts';
import { isInScope } from './scope.ts';

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
export function freezeAt({ when }: FreezeRule, atMs: number): Span | null {
  if ('times' in when) return spanAt(when, FREEZES, atMs);
  const span = onceFrom(when);
  return span.beginMs <= atMs && atMs < span.endMs ? span : null;
}

/** The first one that begins later, or null. */
export function nextFreeze({ when }: FreezeRule, afterMs: number): Span | null {
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
export function windowAt({ when, marginMs }: WindowRule, atMs: number): Span | null {
  const span = spanAt(when, WINDOWS, atMs);
  return span !== null && atMs < span.endMs - marginMs ? { ...span, endMs: span.endMs - marginMs } : null;
}

export function nextWindow({ when, marginMs }: WindowRule, afterMs: number): Span | null {
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
