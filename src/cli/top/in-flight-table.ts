/** The rows of `belay top`: what is in flight, and what it waits for. Pure, but for the countdown. */
import colors from 'picocolors';
import type { LiveLine } from '../../process/live-lines.ts';
import type { InFlight, Overview, RolloutStatus } from '../../starter.ts';
import { rolloutSentence } from '../../contract/wording/explain-wait.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { countsText } from '../../contract/wording/tally-text.ts';
import { targetLabel } from '../../contract/wording/target-text.ts';
import { contactText, liveLine } from '../waiting/run-live.ts';
import { ageText } from './age.ts';
import { naturalWidth, tableLines, type Column } from '../output/table.ts';

const ID: Column = { title: 'ID' };
/** Keys that Belay makes fit. */
const KEY: Column = { title: 'KEY', cut: { to: 22, turn: 2 } };
const OTHERS: Column[] = [
  { title: 'AGE' },
  { title: 'PHASE' },
  { title: 'WHAT', cut: { to: 12, turn: 1 } },
  { title: 'NOW', cut: { to: 20, turn: 3 } },
];
/** With less room for the last column, keys take the place of ids. */
const ROOM_FOR_NOW = 60;

/** The titles, then one line for each. @param width of the screen; null: nothing is cut */
export function inFlightTable(
  { inFlight }: Pick<Overview, 'inFlight'>,
  nowMs: number,
  width: number | null,
): LiveLine[] {
  const cells = inFlight.map((it) => [it.workflowId, ...cellsOf(it, nowMs)].map((cell) => plainText(cell)));
  const isTight = width !== null && naturalWidth(cells.map((row) => row.slice(0, -1))) + ROOM_FOR_NOW > width;
  const rows = isTight ? cells.map(([id = '', ...others]) => [keyOf(id), ...others]) : cells;
  const [titles = '', ...lines] = tableLines([isTight ? KEY : ID, ...OTHERS], rows, width);
  return [
    { text: titles, paint: colors.bold },
    ...lines.map((text, index) => (inFlight[index]?.needsAttention === true ? { text, paint: colors.red } : text)),
  ];
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
  return [ageText(startedAt, nowMs), phase ?? 'starting', whatOf(it), nowOf(it)];
}

/** `server s1: a1, app b1` */
function whatOf(it: InFlight): string {
  if (it.kind === 'rollout') {
    const { name, fleet } = it.status.result;
    return `rollout ${name ?? '?'} of ${fleet ?? '?'}`;
  }
  const { backup, deployments } = it.status.result;
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
