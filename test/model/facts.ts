/** What really happened at the service, out of its journal. Pure. */
import { planOf } from '../../src/request/validate-run-input.ts';
import { completeScript, type Kind } from '../../src/sandbox/hosting/script.ts';
import type { Actor, JournalEntry } from '../../src/sandbox/hosting/state.ts';
import type { Played, PlayedRun } from './record.ts';

export type State = 'completed' | 'failed' | 'in_progress';

/** An operation that began at the service. */
export interface Effect {
  id: string;
  kind: Kind;
  target: string;
  by: Actor;
  /** Of the request: names the step of the run that sent it. */
  key: string | null;
  startedMs: number;
  /** Infinity where it never says a final word. */
  endMs: number;
  ends: State;
  /** From when on `latest` shows it. */
  shownMs: number;
  lagMs: number;
  entry: JournalEntry;
}

/** A status read. */
export interface Read {
  atMs: number;
  /** The site or the backup. */
  target: string;
  state: State | null;
  word: string | null;
  /** Whether the answer can have arrived, and whether it certainly did. */
  maybe: boolean;
  sure: boolean;
  entry: JournalEntry;
}

export interface Facts {
  played: Played;
  effects: Effect[];
  reads: Read[];
  triggers: JournalEntry[];
}

export const msOf = (at: string | null | undefined): number => (at == null ? NaN : Date.parse(at));
export const normal = (word: string): string => word.trim().toLowerCase();

export function stateOf(word: string): State {
  const said = normal(word);
  return said === 'completed' || said === 'failed' ? said : 'in_progress';
}

export function factsOf(played: Played): Facts {
  const counts = new Map<string, number>();
  const effects = played.journal.flatMap((entry) => (entry.began === null ? [] : [effectOf(played, counts, entry)]));
  const triggers = played.journal.filter(({ request }) => request.startsWith('POST '));
  return { played, effects, reads: played.journal.flatMap(readOf), triggers };
}

/** The scripts of a target are taken in the order in which operations begin there; the last one stays. */
function effectOf({ scripts }: Played, counts: Map<string, number>, entry: JournalEntry): Effect {
  const { kind, id, target } = entry.began!;
  const own = scripts[target] ?? [];
  const count = counts.get(target) ?? 0;
  counts.set(target, count + 1);
  const script = completeScript(kind, own[Math.min(count, own.length - 1)]);
  const [startedMs, ends] = [msOf(entry.at), stateOf(script.ends)];
  return {
    ...{ id, kind, target, by: entry.by, key: entry.idempotencyKey, startedMs, ends, entry },
    endMs: ends === 'in_progress' ? Infinity : startedMs + script.durationMs,
    shownMs: startedMs + script.lagMs,
    lagMs: script.lagMs,
  };
}

function readOf(entry: JournalEntry): Read[] {
  const path = /^GET \/v1\/(?:sites\/([^/]+)\/deployments\/latest|backups\/([^/]+))$/.exec(entry.request);
  const target = path?.[1] ?? path?.[2];
  if (target === undefined) return [];
  const { said: word, fault } = entry;
  // A true answer that comes late may have been given up.
  const late = fault === 'true' || fault === 'numeric_id';
  const sure = word !== null && fault === null;
  const state = word === null ? null : stateOf(word);
  return [
    {
      atMs: msOf(entry.at),
      target: decodeURIComponent(target),
      state,
      word,
      sure,
      maybe: sure || (late && word !== null),
      entry,
    },
  ];
}

export const backupKey = (run: PlayedRun): string => `${run.runId}:backup`;
export const deployKey = (run: PlayedRun, siteId: string): string =>
  `${run.runId}:deploy:${encodeURIComponent(siteId)}`;
export const planFor = (run: PlayedRun) => planOf(run.input);

export const ofKey = <T extends { key: string | null }>(effects: T[], key: string): T[] =>
  effects.filter((effect) => effect.key === key);

export function readsOf({ reads }: Facts, target: string, fromMs: number, toMs: number): Read[] {
  return reads.filter((read) => read.target === target && read.atMs >= fromMs && read.atMs <= toMs);
}

/** What was done to workers and server in that time; each can lose what was just read. */
export function deedsIn({ played }: Facts, fromMs: number, toMs: number): number {
  return played.deeds.filter((deed) => deed.fromMs <= toMs && deed.toMs >= fromMs).length;
}

/**
 * How many reads in that time may have been somebody else's, or lost: each run reads its sites once before it begins,
 * with a lock's baseline once more, and a kill or stop loses what was being read.
 */
export function allowance(facts: Facts, run: PlayedRun, siteId: string, fromMs: number, toMs: number): number {
  const others = facts.played.runs.filter(
    (other) => other.runId !== run.runId && other.input.siteIds.includes(siteId) && other.startedMs <= toMs,
  );
  const open = others.filter(({ closedMs }) => closedMs === null || closedMs >= fromMs);
  return open.length + 2 * deedsIn(facts, fromMs - 1_000, toMs + 1_000);
}

/** A journal entry, for a sentence. */
export function cite({ at, by, request, answered, said, began, fault }: JournalEntry): string {
  const parts = [began && `began ${began.id}`, said && `said "${said}"`, fault && `fault ${fault}`];
  const what = parts.filter(Boolean).join(', ');
  return `[${at.slice(11, 23)} ${by} ${request} -> ${answered ?? '-'}${what === '' ? '' : `: ${what}`}]`;
}
