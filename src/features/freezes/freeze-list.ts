/** Freezes and windows as `belay freezes` lists them. */
import colors from 'picocolors';
import type { AdHocFreeze, BlockedAction, OverrideRule, RunningFreeze } from './shapes.ts';
import { aboutText } from '../../contract/duration.ts';
import { plainText } from '../../contract/safe-text.ts';
import type { ListedFreeze } from './list-freezes.ts';

export interface FreezeEntry {
  kind: 'freeze' | 'window';
  source: 'belay freeze' | 'belay.yaml';
  name: string;
  isActive: boolean;
  from: string | null;
  until: string | null;
  reason: string | null;
  by: string | null;
  blocks: readonly BlockedAction[];
  override: OverrideRule;
  for: AdHocFreeze['scope'] | ListedFreeze['scope'] | null;
  fromText: string | null;
  untilText: string | null;
}

export function adHocEntry({ workflowId, freeze }: RunningFreeze, atMs: number): FreezeEntry {
  const shared = { kind: 'freeze', source: 'belay freeze', name: workflowId } as const;
  if (freeze === null) return { ...shared, ...UNREADABLE };
  const { since, until, reason, by, blocks, override, scope } = freeze;
  const isActive = atMs < Date.parse(until);
  const times = { from: since, until, fromText: since, untilText: until };
  return { ...shared, isActive, ...times, reason, by, blocks, override, for: scope };
}

const UNREADABLE = {
  isActive: true,
  ...{ from: null, until: null, fromText: null, untilText: null, by: null, for: null },
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
  const holdsBack = (entry.kind === 'freeze') === entry.isActive;
  const line = entryText(entry, atMs);
  return holdsBack ? colors.yellow(line) : line;
}

/** The same without a color. */
export function entryText(entry: FreezeEntry, atMs: number): string {
  const { kind, name, isActive, until, fromText, untilText, reason, by } = entry;
  const state = kind === 'freeze' ? freezeState(entry, atMs) : isActive ? 'open' : 'closed';
  const leftMs = until === null ? null : Math.max(0, Date.parse(until) - atMs);
  const left = isActive && leftMs !== null ? `, ${aboutText(leftMs)} more` : '';
  const times = isActive ? `until ${untilText ?? 'no known time'}${left}` : nextText(fromText, untilText);
  const who = by === null ? '' : `, by ${plainText(by)}`;
  const why = reason === null ? '' : `: ${plainText(reason)}`;
  return `${state.padEnd(8)} ${plainText(name)}${forText(entry)} ${times}${who}${why}`;
}

function freezeState({ isActive, from, until }: FreezeEntry, atMs: number): string {
  if (isActive) return 'frozen';
  return from === null || Date.parse(until ?? from) <= atMs ? 'over' : 'later';
}

const nextText = (from: string | null, until: string | null): string =>
  from === null ? 'never again' : `from ${from} until ${until}`;

/** What it is for, unless that is everything or its name says so. */
function forText({ source, for: scope }: FreezeEntry): string {
  if (scope === null || source === 'belay freeze') return '';
  const parts = Object.entries(scope).map(([key, value]) =>
    Array.isArray(value) ? `${key} ${value.join(', ')}` : `${key} ${JSON.stringify(value)}`,
  );
  return parts.length === 0 ? '' : ` (for ${plainText(parts.join('; '))})`;
}
