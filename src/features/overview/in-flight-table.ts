/** The rows of `belay top`: what is in flight, and what it waits for. Pure, but for the countdown. */
import colors from 'picocolors';
import type { LiveLine } from '../../process/live-lines.ts';
import type { InFlight, Overview, RolloutResult, RolloutStatus, RunResult } from '../../starter.ts';
import { rolloutSentence } from '../../contract/explain-wait.ts';
import { plainText } from '../../contract/safe-text.ts';
import { countsText } from '../../contract/tally-text.ts';
import { targetLabel } from '../../contract/target-text.ts';
import { colorize } from '../../cli/run-text.ts';
import { contactText, liveLine } from '../../cli/run-live.ts';
import { ageText } from './age.ts';
import { naturalWidth, tableLines, type Column } from '../../cli/table.ts';

/** With less room for the last column, keys take the place of ids. */
const ROOM_FOR_NOW = 60;

const ID: Column = { title: 'ID' };
/** Keys that Belay makes fit. */
const KEY: Column = { title: 'KEY', cut: { to: 22, turn: 2 } };
const OTHERS: Column[] = [
  { title: 'AGE', drop: 2 },
  // What a run waits for tells its phase as well.
  { title: 'PHASE', drop: 1 },
  { title: 'WHAT', cut: { to: 12, turn: 1 }, wants: 30 },
  { title: 'NOW', cut: { to: 20, turn: 3 }, wants: ROOM_FOR_NOW },
];

/** What has ended, and how. */
export type Ended = { kind: 'run'; result: RunResult } | { kind: 'rollout'; result: RolloutResult };

/**
 * The titles, then one line for each: first what is in flight, then what has ended.
 * @param width of the screen; null: nothing is cut
 */
export function inFlightTable(
  { inFlight, ended = [] }: Pick<Overview, 'inFlight'> & { ended?: readonly Ended[] },
  nowMs: number,
  width: number | null,
): LiveLine[] {
  const cells = [
    ...inFlight.map((it) => [it.workflowId, ...cellsOf(it, nowMs)]),
    ...ended.map((it) => [it.result.workflowId ?? '', ...cellsOfEnded(it, nowMs)]),
  ].map((row) => row.map((cell) => plainText(cell)));
  const isTight = width !== null && naturalWidth(cells.map((row) => row.slice(0, -1))) + ROOM_FOR_NOW > width;
  const rows = isTight ? cells.map(([id = '', ...others]) => [keyOf(id), ...others]) : cells;
  const [titles = '', ...lines] = tableLines([isTight ? KEY : ID, ...OTHERS], rows, width);
  return [
    { text: titles, paint: colors.bold },
    ...lines.map((text, index) => painted(text, inFlight[index], ended[index - inFlight.length])),
  ];
}

function painted(text: string, running: InFlight | undefined, ended: Ended | undefined): LiveLine {
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

/** Parts of an id contain no colon, and the key is its last one. */
const keyOf = (workflowId: string): string => workflowId.slice(workflowId.lastIndexOf(':') + 1);

function cellsOf(it: InFlight, nowMs: number): string[] {
  const { startedAt, phase } = it.status.result;
  return [
    ageText(startedAt, nowMs),
    phase ?? 'starting',
    whatOf({ kind: it.kind, result: it.status.result } as Ended),
    nowOf(it),
  ];
}

function cellsOfEnded(it: Ended, nowMs: number): string[] {
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
function whatOf(it: Ended): string {
  if (it.kind === 'rollout') {
    const { name, fleet } = it.result;
    return `rollout ${name ?? '?'} of ${fleet ?? '?'}`;
  }
  const { backup, deployments } = it.result;
  const server = backup === null ? [] : [`server ${backup.serverId}`];
  const targets = deployments.map(({ target }) => targetLabel(target)).join(', ');
  return [...server, ...(targets === '' ? [] : [targets])].join(': ');
}

const nowOf = (it: InFlight): string => (it.kind === 'run' ? liveLine(it.status, true) : rolloutNow(it.status));

/** `3 of at most 10 servers running …; ended: 97 completed` */
export function rolloutNow(status: RolloutStatus): string {
  const { waiting, result } = status;
  const silence = contactText(status);
  if (silence !== null) return silence;
  if (waiting?.kind !== 'servers') return waiting === null ? countsText(result.servers) : rolloutSentence(waiting);
  const ended = countsText({ ...result.servers, running: 0, pending: 0 });
  return `${rolloutSentence(waiting)}${ended === 'none' ? '' : `; ended: ${ended}`}`;
}
