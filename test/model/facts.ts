/** What really happened at the service, from its journal. Pure. */
import { targetsOf } from '../../src/contract/target.ts';
import { lockIdOf } from '../../src/contract/ids.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { planRun } from '../../src/request/run-options.ts';
import { completeScript, type Kind } from '../../src/sandbox/script.ts';
import type { Actor, JournalEntry } from '../../src/sandbox/state.ts';
import type { Done, Played, PlayedRun } from './record.ts';
import { targetNamed } from './targets.ts';

export type State = 'completed' | 'failed' | 'in_progress';

/** An operation that began at the service. */
export interface Effect {
  id: string;
  kind: Kind;
  target: string;
  by: Actor;
  /** The idempotency key of the request, which names the step of the run that sent it. */
  key: string | null;
  startedMs: number;
  /** Infinity if it never shows a final status. */
  endMs: number;
  ends: State;
  /** The time from which `latest` shows it. */
  shownMs: number;
  lagMs: number;
  entry: JournalEntry;
}

/** A status read. */
export interface Read {
  atMs: number;
  /** The site, app or backup. */
  target: string;
  state: State | null;
  word: string | null;
  /** Whether the answer may have arrived, and whether it certainly did. */
  maybe: boolean;
  sure: boolean;
  /** Whether it may have been answered at all, also with a 404. */
  answers: boolean;
  entry: JournalEntry;
}

export interface Facts {
  played: Played;
  effects: Effect[];
  reads: Read[];
  triggers: JournalEntry[];
  /** When the service could not be reached, or had asked a worker to wait. The worker then sends nothing to anyone. */
  away: Pick<Done, 'fromMs' | 'toMs'>[];
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
  const away = [...(played.outages ?? []), ...played.journal.flatMap(pauseOf)];
  return { played, effects, reads: played.journal.flatMap(readOf), triggers, away };
}

/** Operations use the scripts of their target in order of their start, and the last script repeats. */
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
  const path = /^GET \/v1\/(?:(?:sites|apps)\/([^/]+)\/deployments\/latest|backups\/([^/]+))$/.exec(entry.request);
  const target = path?.[1] ?? path?.[2];
  if (target === undefined) return [];
  const { said: word, fault } = entry;
  // The client may have timed out before a late true answer.
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
      answers: sure || late || entry.answered === 404,
      entry,
    },
  ];
}

/** After a wait for a freeze, a run makes another backup, under a key of its own. */
export const isBackupOf = (run: PlayedRun, key: string | null): boolean =>
  key === `${run.runId}:backup` || key?.startsWith(`${run.runId}:backup-`) === true;
export const backupsOf = (effects: Effect[], run: PlayedRun): Effect[] =>
  effects.filter(({ key }) => isBackupOf(run, key));
export const lockOf = (target: string): string => lockIdOf(targetNamed(target));
export const deployKey = (run: PlayedRun, target: string): string => `${run.runId}:${lockOf(target)}`;
export const namesOf = ({ input }: PlayedRun): string[] => targetsOf(input).map(({ id }) => id);
export const planFor = (run: PlayedRun) => planRun(run.input);

export const ofKey = <T extends { key: string | null }>(effects: T[], key: string): T[] =>
  effects.filter((effect) => effect.key === key);

export function readsOf({ reads }: Facts, target: string, fromMs: number, toMs: number): Read[] {
  return reads.filter((read) => read.target === target && read.atMs >= fromMs && read.atMs <= toMs);
}

/** After such a wait, a run makes its backup anew if it has become too old, and its result names the last one. */
export const hasWaitedForFreeze = ({ result }: PlayedRun): boolean =>
  result?.held?.some((it) => ['freeze', 'window'].includes(it.for) && it.end !== 'overridden' && it.to !== null) ===
  true;

/** The operation of this run that held the lock, as Temporal lists it. After a freeze, the run starts another one. */
export const operationOf = ({ played }: Facts, lockId: string, runId: string | undefined) =>
  played.operations
    .filter((it) => it.workflowId === lockId && it.parentRunId === runId)
    .sort((a, b) => (a.closedMs ?? Infinity) - (b.closedMs ?? Infinity))
    .at(-1);

/** The number of worker and server faults in this time. Each can lose a read in progress. */
export function deedsIn({ played }: Facts, fromMs: number, toMs: number): number {
  return played.deeds.filter((deed) => deed.fromMs <= toMs && deed.toMs >= fromMs).length;
}

export const wasAway = ({ away }: Facts, fromMs: number, toMs: number): boolean =>
  away.some((it) => it.fromMs <= toMs && it.toMs >= fromMs);

const pauseOf = ({ at, asksToWaitMs }: JournalEntry) =>
  asksToWaitMs === null ? [] : [{ fromMs: msOf(at), toMs: msOf(at) + pauseMs(asksToWaitMs) }];

function pauseMs(askedMs: number): number {
  const { defaultPauseMs, maxPauseMs, spreadMs } = TIMING.pace;
  return Math.min(Math.max(askedMs, defaultPauseMs), maxPauseMs) + spreadMs;
}

/**
 * How many reads in this time may belong to other runs or be lost. Each run reads its targets once before it begins,
 * and once more for the baseline under its lock, and a kill or stop loses the read in progress.
 */
export function allowance(facts: Facts, run: PlayedRun, target: string, fromMs: number, toMs: number): number {
  const others = facts.played.runs.filter(
    (other) => other.runId !== run.runId && namesOf(other).includes(target) && other.startedMs <= toMs,
  );
  const open = others.filter(({ closedMs }) => closedMs === null || closedMs >= fromMs);
  return open.length + 2 * deedsIn(facts, fromMs - 1_000, toMs + 1_000);
}

/** A journal entry as text for a sentence. */
export function cite({ at, by, request, answered, said, began, fault }: JournalEntry): string {
  const parts = [began && `began ${began.id}`, said && `said "${said}"`, fault && `fault ${fault}`];
  const what = parts.filter(Boolean).join(', ');
  return `[${at.slice(11, 23)} ${by} ${request} -> ${answered ?? '-'}${what === '' ? '' : `: ${what}`}]`;
}
