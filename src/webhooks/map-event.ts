/**
 * Reads the event from a body. Payloads are not documented, so belay.yaml names the fields, or likely names are tried.
 * Pure.
 */
import { getProperty } from 'dot-prop';
import type { ServiceEvent, EventKind } from '../features/events/shapes.ts';
import { problemOfId } from '../request/problems.ts';
import { plainText } from '../contract/safe-text.ts';
import { textIn, type JsonObject } from './parse-body.ts';
import { redactedText } from './redact.ts';
import { EVENT_KIND_TABLE, type LikelyWords, type SourceConfig } from '../features/events/config.ts';
import { normalizeStatus } from '../rules/status-words.ts';

/** Paths such as `data.server.id` and `items[0].id`; write a dot in a key as `\.`. */
export type Fields = NonNullable<SourceConfig['fields']>;

const WRAPPERS = ['', 'data.', 'payload.', 'event.', 'resource.', 'data.object.', 'data.attributes.'];
const inside = (...names: string[]) => WRAPPERS.flatMap((wrapper) => names.map((name) => wrapper + name));
const idOf = (what: string) => inside(`${what}_id`, `${what}Id`, `${what}.id`, `${what}.uuid`, what);

const LIKELY: Record<'kind' | 'server' | 'site' | 'backup' | 'time', string[]> = {
  kind: inside('type', 'event', 'event_type', 'eventType', 'event_name', 'kind', 'name', 'action', 'topic'),
  server: idOf('server'),
  site: idOf('site'),
  backup: idOf('backup'),
  time: inside('timestamp', 'occurred_at', 'occurredAt', 'created_at', 'createdAt', 'time', 'date'),
};

interface Meaning {
  /** Configured paths. Fields without one are looked up by likely names. */
  fields?: Fields;
  kinds?: KindWords;
  /** Removed from everything that is kept. */
  secrets?: readonly string[];
}

export function eventOf(body: JsonObject, { fields = {}, kinds = {}, secrets = [] }: Meaning = {}): ServiceEvent {
  const find = (what: keyof typeof LIKELY) => firstOf(body, fields[what] === undefined ? LIKELY[what] : [fields[what]]);
  const rawKind = find('kind')?.trim() ?? null;
  const findId = (what: 'server' | 'site' | 'backup') => {
    const id = find(what);
    // A value that looks like a secret is not an id.
    return id === null || problemOfId(id) !== null || redactedText(id, secrets) !== id ? null : id;
  };
  return {
    kind: eventKindOf(rawKind, kinds),
    rawKind: rawKind === null ? null : plainText(redactedText(rawKind, secrets), 100),
    serverId: findId('server'),
    siteId: findId('site'),
    backupId: findId('backup'),
    at: isoTime(find('time')?.trim() ?? null),
  };
}

/** Returns the delivery's id in the body. Null if no path is configured. */
export function idIn(body: JsonObject, { id }: Fields): string | null {
  return id === undefined ? null : firstOf(body, [id]);
}

function firstOf(body: JsonObject, paths: readonly string[]): string | null {
  for (const path of paths) {
    const text = textIn(getProperty(body, path));
    if (text !== null) return text;
  }
  return null;
}

/** Accepts seconds or milliseconds since 1970, or a date as text. */
function isoTime(text: string | null): string | null {
  if (text === null) return null;
  const ms = msIn(text);
  if (Number.isNaN(ms) || Math.abs(ms) > 8.64e15) return null;
  const iso = new Date(ms).toISOString();
  // Times are compared as texts, and a year of five digits, which begins with a sign, would be before any other.
  return /^\d/.test(iso) ? iso : null;
}

function msIn(text: string): number {
  if (/^\d{9,11}(\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (/^\d{12,14}$/.test(text)) return Number(text);
  // Date.parse accepts almost any text with a digit, so check the form first.
  const isDate = /^(\d{4}-\d\d-\d\d([T ]|$)|[A-Z][a-z]{2}, \d)/.test(text);
  return isDate ? Date.parse(hasZone(text) ? text : `${text}Z`) : NaN;
}

const hasZone = (date: string) => /([+-]\d\d:?\d\d|[A-Za-z])$/.test(date);

/* Maps a sender's event name to a kind. The service does not document its names, so likely ones are built in. Pure. */

export type KindWords = Partial<Record<EventKind, readonly string[]>>;

const MAX_LENGTH = 200;

export function eventKindOf(rawKind: string | null, words: KindWords = {}): EventKind {
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
