/** `belay top` shows what is in flight, once or until the user quits. */
import colors from 'picocolors';
import { TIMING } from '../../contract/timing.ts';
import { explainRollout, nameOfPartInFlight, waitingSentence, rolloutSentence } from '../../contract/explain-wait.ts';
import type { LiveLine } from '../../process/live-lines.ts';
import type {
  Belay,
  InFlight,
  LiveOverview,
  Overview,
  RolloutResult,
  RolloutStatus,
  RunResult,
} from '../../starter.ts';
import { follow, contactText, isStarting, liveLine } from '../../cli/follow.ts';
import { screenLines, naturalWidth, tableLines, type Column } from '../../cli/table.ts';
import { showUntilQuit, type Terminal } from './screen.ts';
import { plainText } from '../../contract/safe-text.ts';
import { countsText } from '../../contract/results.ts';
import { serverOfRun } from '../../contract/ids.ts';
import { targetLabel } from '../../contract/target.ts';
import { colorize } from '../../cli/run-text.ts';

export function overviewLines(overview: Overview, ended: readonly RunOrRollout[] = []): LiveLine[] {
  const isEmpty = overview.inFlight.length + ended.length === 0;
  const table = isEmpty ? [] : inFlightTable({ ...overview, ended }, Date.now(), Infinity);
  const text = overviewText(overview);
  return [...table, overview.total === 0 && ended.length > 0 ? `${ended.length} ended, ${text}` : text];
}

/** @param ended null if nobody asked for it */
export function overviewDocument(
  { inFlight, total, complete }: Overview,
  ended: readonly RunOrRollout[] | null = null,
): object {
  const recent = ended === null ? {} : { recent: ended.map(({ result }) => result) };
  const runs = inFlight.filter(({ kind }) => kind === 'run').map(entryOf);
  const rollouts = inFlight.filter(({ kind }) => kind === 'rollout').map(entryOf);
  return { runs, rollouts, total, complete, ...recent };
}

/** The document of `status --json`, with `contact` and `needsAttention`. */
function entryOf(it: InFlight): object {
  const { result, waiting, contact } = it.status;
  return {
    ...result,
    waiting,
    why: contactText(it.status, it.kind) ?? whyOf(it),
    contact,
    needsAttention: it.needsAttention,
  };
}

function whyOf({ kind, status }: InFlight): string | null {
  if (status.waiting === null) return null;
  if (kind === 'rollout') return explainRollout(status).sentence;
  return waitingSentence(status.waiting, nameOfPartInFlight(status.result));
}

export interface RecentlyEnded {
  /** The latest end comes first. */
  now(): readonly RunOrRollout[];
  /** Asks about everything that has left the overview since the last call. */
  update(overview: Overview): Promise<void>;
}

/** Finds what began in this time and has ended. It asks about each of them once. */
export async function recentlyEnded(belay: Belay, forMs: number, limit: number): Promise<RecentlyEnded> {
  const since = new Date(Date.now() - forMs).toISOString();
  const [runs, rollouts] = await Promise.all([belay.list({ since, limit }), belay.rollouts.list({ since, limit })]);
  const ended = new Map<string, RunOrRollout>();
  const add = (it: RunOrRollout) =>
    it.result.endedAt !== null && ended.set(`${it.result.workflowId} ${it.result.runId}`, it);
  for (const result of runs) add({ kind: 'run', result });
  for (const result of rollouts) add({ kind: 'rollout', result });
  let before: readonly InFlight[] = [];

  return {
    now: () =>
      [...ended.values()]
        .sort((a, b) => (b.result.endedAt ?? '').localeCompare(a.result.endedAt ?? ''))
        .slice(0, limit),
    async update({ inFlight }) {
      const open = new Set(inFlight.map(({ status }) => status.result.runId));
      const gone = before.filter(({ status }) => !open.has(status.result.runId));
      before = inFlight;
      for (const { kind, workflowId, status } of gone) {
        const runId = status.result.runId ?? undefined;
        if (kind === 'run') add({ kind, result: (await belay.get(workflowId, runId).status()).result });
        else add({ kind, result: (await belay.rollouts.get(workflowId, runId).status()).result });
      }
    },
  };
}

/** @param where names Temporal in the title. @param recent null to leave out what has ended. @returns the exit code */
export async function showOverview(
  overviews: LiveOverview,
  where: string,
  terminal: Terminal,
  recent: RecentlyEnded | null = null,
): Promise<number> {
  const refresh = async () => {
    const seen = await overviews.refresh();
    await recent?.update(seen);
    return seen;
  };
  // A mistake in the configuration ends the command.
  let overview = await refresh();
  let problem: string | null = null;
  const following = follow(
    () => refresh().catch((error: unknown) => error as Error),
    (seen) => {
      if (seen instanceof Error) problem = seen.message;
      else [overview, problem] = [seen, null];
    },
    TIMING.cli.terminalPeriodMs,
  );
  try {
    return await showUntilQuit(({ rows, columns }) => {
      const title = `${overviewText(overview)} on ${where}. Press q to quit.`;
      const head = problem === null ? [title] : [title, { text: problem, paint: colors.red }];
      const ended = recent?.now() ?? [];
      return screenLines(head, inFlightTable({ ...overview, ended }, Date.now(), columns), rows);
    }, terminal);
  } finally {
    following.stop();
  }
}

/* The rows of `belay top`: what is in flight, and what it waits for. Pure, but for the countdown. */

/** If the last column has less room than this, keys replace ids. */
const ROOM_FOR_NOW = 60;

const ID: Column = { title: 'ID' };
/** Keys that Belay makes fit. */
const KEY: Column = { title: 'KEY', cut: { to: 22, turn: 2 } };
const OTHERS: Column[] = [
  { title: 'AGE', drop: 2 },
  // What a run waits for also tells its phase.
  { title: 'PHASE', drop: 1 },
  { title: 'WHAT', cut: { to: 12, turn: 1 }, wants: 30 },
  { title: 'NOW', cut: { to: 20, turn: 3 }, wants: ROOM_FOR_NOW },
];

type RunOrRollout = { kind: 'run'; result: RunResult } | { kind: 'rollout'; result: RolloutResult };

/**
 * Returns the titles, then one line for each entry: first what is in flight, then what has ended.
 *
 * @param width of the screen
 */
export function inFlightTable(
  { inFlight, ended = [] }: Pick<Overview, 'inFlight'> & { ended?: readonly RunOrRollout[] },
  nowMs: number,
  width: number,
): LiveLine[] {
  const cells = [
    ...inFlight.map((it) => [it.workflowId, ...cellsOf(it, nowMs)]),
    ...ended.map((it) => [it.result.workflowId ?? '', ...cellsOfEnded(it, nowMs)]),
  ].map((row) => row.map((cell) => plainText(cell, Infinity)));
  const isTight = naturalWidth(cells.map((row) => row.slice(0, -1))) + ROOM_FOR_NOW > width;
  const rows = isTight ? cells.map(([id = '', ...others]) => [keyOf(id), ...others]) : cells;
  const [titles = '', ...lines] = tableLines([isTight ? KEY : ID, ...OTHERS], rows, width);
  return [
    { text: titles, paint: colors.bold },
    ...lines.map((text, index) => painted(text, inFlight[index], ended[index - inFlight.length])),
  ];
}

function painted(text: string, running: InFlight | undefined, ended: RunOrRollout | undefined): LiveLine {
  if (ended !== undefined) return { text, paint: (cut) => colorize(ended.result, cut) };
  return running?.needsAttention === true ? { text, paint: colors.red } : text;
}

/** `3 in flight, 1 needs attention` */
export function overviewText({ inFlight, total, complete }: Overview): string {
  const urgent = inFlight.filter(({ needsAttention }) => needsAttention).length;
  const attention = urgent === 0 ? '' : `, ${urgent} ${urgent === 1 ? 'needs' : 'need'} attention`;
  const left = total > inFlight.length ? `; ${inFlight.length} shown, use a higher --limit to see more` : '';
  const count = total === 0 ? 'nothing' : `${complete ? '' : 'at least '}${total}`;
  return `${count} in flight${attention}${left}`;
}

/** No part of an id contains a colon, and the key is its last part. */
const keyOf = (workflowId: string): string => workflowId.slice(workflowId.lastIndexOf(':') + 1);

function cellsOf(it: InFlight, nowMs: number): string[] {
  const { contact, result } = it.status;
  const { startedAt, phase } = result;
  const mayBeStarting = contact === 'answers' || contact === 'not_begun';
  return [
    ageText(startedAt, nowMs),
    phase ?? (mayBeStarting ? 'starting' : '–'),
    whatOf({ kind: it.kind, result: it.status.result } as RunOrRollout),
    nowOf(it),
  ];
}

function cellsOfEnded(it: RunOrRollout, nowMs: number): string[] {
  const { startedAt, endedAt, outcome, error } = it.result;
  const counts = it.kind === 'rollout' ? `${countsText(it.result.servers)}; ` : '';
  const why = error === null ? '' : `: ${error.message}`;
  return [
    ageText(startedAt, nowMs),
    outcome ?? error?.type ?? 'ended',
    whatOf(it),
    `${counts}ended ${ageText(endedAt, nowMs)} ago${why}`,
  ];
}

/** `server s1: a1, app b1` */
function whatOf(it: RunOrRollout): string {
  if (it.kind === 'rollout') {
    const { name, fleet } = it.result;
    return `rollout ${name ?? '?'} of ${fleet ?? '?'}`;
  }
  const { backup, deployments, workflowId } = it.result;
  // A run that waits for people has no backup yet.
  const serverId = backup?.serverId ?? serverOfRun(workflowId ?? '');
  const server = serverId === null ? [] : [`server ${serverId}`];
  const targets = deployments.map(({ target }) => targetLabel(target)).join(', ');
  return [...server, ...(targets === '' ? [] : [targets])].join(': ');
}

function nowOf(it: InFlight): string {
  const { unreadable } = it.status.result;
  if (unreadable !== undefined) return `cannot be read: ${unreadable}`;
  return it.kind === 'run' ? liveLine(it.status, true) : rolloutNow(it.status);
}

/** `3 of at most 10 servers running …; ended: 97 completed` */
export function rolloutNow(status: RolloutStatus): string {
  const { waiting, result } = status;
  if (isStarting(status)) return 'starting';
  const silence = contactText(status, 'rollout');
  if (silence !== null) return silence;
  if (waiting === null)
    return Object.values(result.servers).some((it) => it > 0)
      ? countsText(result.servers)
      : (result.phase ?? 'starting');
  if (waiting.kind !== 'servers') return rolloutSentence(waiting, result.workflowId);
  const ended = countsText({ ...result.servers, running: 0, pending: 0 });
  return `${rolloutSentence(waiting, result.workflowId)}${ended === 'none' ? '' : `; ended: ${ended}`}`;
}

/** `42 s`, `12 min`, `5 h`, `3 d`; `–` if it is not known. */
export function ageText(at: string | null, nowMs: number): string {
  if (at === null) return '–';
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(at)) / 1_000));
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600)];
  if (minutes < 1) return `${seconds} s`;
  if (hours < 1) return `${minutes} min`;
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}
