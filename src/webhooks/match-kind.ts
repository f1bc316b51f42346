/** Maps a sender's event name to a kind. The service's names are not documented, so likely ones are built in. Pure. */
import { EVENT_KIND_TABLE, type LikelyWords } from '../features/events/config.ts';
import type { EventKind } from '../features/events/shapes.ts';
import { normalizeStatus } from '../rules/status-word.ts';

/** The sender's event names for each kind. */
export type KindWords = Partial<Record<EventKind, readonly string[]>>;

const MAX_LENGTH = 200;

export function kindOf(rawKind: string | null, words: KindWords = {}): EventKind {
  if (rawKind === null) return 'unknown';
  const plain = normalizeStatus(rawKind);
  const configured = Object.entries(words) as [EventKind, readonly string[]][];
  const named = configured.find(([, list]) => list.some((word) => normalizeStatus(word) === plain));
  if (named !== undefined) return named[0];
  const parts = rawKind
    .slice(0, MAX_LENGTH)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((part) => part !== '');
  const has = (word: RegExp) => parts.some((part) => word.test(part));
  const isMeant = ({ all, none, only }: LikelyWords) =>
    all.every(has) && (none === undefined || !has(none)) && parts.every((part) => only?.test(part) ?? true);
  const rows = Object.entries(EVENT_KIND_TABLE) as [EventKind, { likely: LikelyWords | null }][];
  return rows.find(([, { likely }]) => likely !== null && isMeant(likely))?.[0] ?? 'unknown';
}
