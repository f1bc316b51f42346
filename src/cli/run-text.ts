/** The result of a run in lines for people. */
import colors from 'picocolors';
import type { BackupResult, DeploymentResult, RunError, RunResult } from '../contract/run.ts';
import type { Outcome } from '../contract/names.ts';
import type { RolloutResult } from '../features/rollouts/shapes.ts';
import { BelayError, EXIT, exitCodeOfResult } from '../contract/errors.ts';
import { glanceText } from '../contract/duration.ts';
import { commitText } from '../contract/commit.ts';
import { tableLines, type Column } from './table.ts';
import { printNote } from '../process/print.ts';
import { fitting, screenWidth } from '../process/live-lines.ts';
import { emptyResult, counted } from '../contract/results.ts';
import { checkText } from '../features/site-checks/text.ts';
import { heldIn, heldText } from '../features/freezes/text.ts';
import { targetLabel } from '../contract/target.ts';
import { plainText, messageOf, shellWord } from '../contract/safe-text.ts';

/** For what is in flight, after its cancellation was recorded. */
export const CANCELLATION_REQUESTED = '  cancellation requested: it takes effect once a worker takes it up';

export function resultOfError(error: unknown): RunResult {
  const known = error instanceof BelayError ? error.result : null;
  return { ...(known ?? emptyResult()), error: errorOf(error) };
}

export function errorOf(error: unknown): RunError {
  const type = error instanceof BelayError ? error.type : 'Internal';
  return { type, message: messageOf(error) };
}

/** Such an end is no failure: the run continues, and a note says how to wait for it again. */
export const hasStoppedWaiting = ({ error }: Pick<RunResult, 'error'>): boolean => error?.type === 'StoppedWaiting';

/** The outcome, else the type of the error, else the phase. */
export function stateOfResult({ outcome, phase, error }: RunResult | RolloutResult): string {
  const inProgress = phase === null ? 'in progress' : `in progress: ${phase}`;
  if (outcome === null && hasStoppedWaiting({ error })) return `stopped waiting, ${inProgress}`;
  return outcome ?? error?.type ?? inProgress;
}

export function resultLines(result: RunResult): string[] {
  const { outcome, backup, deployments, workflowId, links } = result;
  const took = durationOf(result.startedAt, result.endedAt);
  return [
    `${colorize(result, stateOfResult(result))}${took === null || outcome === null ? '' : ` in ${took}`}`,
    ...errorLines(result),
    ...heldIn(result).map((it) => `  ${heldText(it)}`),
    ...(backup === null ? [] : [`  backup of ${plainText(backup.serverId)}: ${backupFacts(backup, result)}`]),
    ...deployments.map((it) => `  deployment of ${targetLabel(it.target, plainText)}: ${deploymentFacts(it, result)}`),
    ...(workflowId === null ? [] : [`  run: ${workflowId}`]),
    ...(links.ui === null ? [] : [`  in the Temporal UI: ${links.ui}`]),
  ];
}

/** An entry of a list. The list may be unable to read all of it. */
export type PartlyRead = Pick<RunResult | RolloutResult, 'workflowId' | 'unreadable'>;

export const noteUnreadable = (results: readonly PartlyRead[]): void =>
  printNote(unreadableTexts(results).map((it) => `belay: ${it}`));

/** One line for each reason why a list could not read all of some runs or rollouts. */
export function unreadableTexts(results: readonly PartlyRead[]): string[] {
  const ids = new Map<string, string[]>();
  for (const { workflowId, unreadable } of results)
    if (unreadable !== undefined) ids.set(unreadable, [...(ids.get(unreadable) ?? []), plainText(workflowId ?? '')]);
  return [...ids].map(([reason, [first, ...others]]) => {
    const more = others.length === 0 ? '' : ` and ${counted(others.length, 'other')}`;
    return `cannot read all of ${first}${more}: ${reason}`;
  });
}

/** Why it ended as it did, and what to do, unless the message says so itself. */
export function errorLines(result: RunResult | RolloutResult): string[] {
  const { error } = result;
  if (error === null || hasStoppedWaiting(result)) return [];
  const next = remedyFor(result, error);
  const lines = [`  ${plainText(error.message, 400)}`];
  // For a rollout, a message that ends so leaves open how.
  const isOpen = 'targets' in result && error.message.endsWith(': start it again');
  return next === undefined || (HAS_REMEDY.test(error.message) && !isOpen) ? lines : [...lines, `  next: ${next}`];
}

function remedyFor(result: RunResult | RolloutResult, error: RunError): string | undefined {
  const code = exitCodeOfResult(result);
  if ('targets' in result && result.workflowId !== null && code === EXIT.busy) {
    const retry = retryCommand(result.workflowId);
    if (error.type === 'Frozen') return `${retry} ${AFTER_FREEZE}`;
    return `${retry} starts the servers that are not completed again`;
  }
  return REMEDIES[code]?.(error);
}

/** The command that starts again what a rollout did not complete. */
export const retryCommand = (workflowId: string): string => `\`belay rollout retry ${shellWord(workflowId)}\``;

const AFTER_FREEZE = 'after the freeze: `belay freezes` shows when that ends';

/** For each exit code whose messages often state a fact only. The README says the same in its table. */
const REMEDIES: Partial<Record<number, (error: RunError) => string | undefined>> = {
  [EXIT.timedOut]: () =>
    'check the service, where it may still start or finish, and allow more tries: `belay advice` suggests how many',
  [EXIT.unknown]: () => 'check the service before you deploy again',
  [EXIT.busy]: ({ type }) => (type === 'Frozen' ? `start it again ${AFTER_FREEZE}` : 'start it again later'),
  // A person who rejected it gave a reason.
  [EXIT.refused]: ({ type }) =>
    type === 'Refused'
      ? 'check what this reason names, such as the service, the token or the ids, before you start it again'
      : undefined,
};

/** What to do stands at the end of a message, as in `…: start it again` or `…, or start again with …`. */
const HAS_REMEDY = /(?:: |, or |, then )(?:check|give|map|name|release|set|start|use|wait)\b/;

/** The reason takes what room is left. */
export function lineInList(
  { startedAt, outcome, error }: Pick<RunResult, 'startedAt' | 'outcome' | 'error'>,
  { state, about, columns }: { state: string; about: string; columns: number },
): string {
  const [start, end] = [`${startedAt === null ? '' : secondsOf(startedAt)}  `, `  ${about}`];
  const reason = reasonIn({ outcome, error }, columns - screenWidth(start + state.padEnd(12) + end));
  return `${start}${colorize({ outcome, error }, state.padEnd(12))}${end}${reason}`;
}

/** A time for people: without its milliseconds. */
export const secondsOf = (instant: string): string => instant.replace(/\.\d+Z$/, 'Z');

/** A reason that is cut to less than this makes no sense. */
const LEAST_ROOM = 12;

/** Why something ended as it did, for the end of a line. */
function reasonIn({ outcome, error }: Pick<RunResult, 'outcome' | 'error'>, room: number): string {
  if (error === null || outcome === null || room < LEAST_ROOM) return '';
  return fitting(`  ${plainText(error.message, Infinity)}`, room);
}

/** A run that was terminated has parts whose outcome nobody recorded. */
export const partText = (outcome: Outcome | null, run: Pick<RunResult, 'outcome'>): string =>
  outcome ?? (run.outcome === null ? 'no outcome yet' : 'outcome not recorded');

function backupFacts({ outcome, backupId, source, lastStatus, polls }: BackupResult, run: RunResult): string {
  const id = backupId === null ? '' : `, id ${plainText(backupId)}${source === null ? '' : ` (${source})`}`;
  return `${partText(outcome, run)}${id}${lastFacts(lastStatus, polls)}`;
}

function deploymentFacts(deployment: DeploymentResult, run: RunResult): string {
  const { outcome, evidence, lastStatus, polls } = deployment;
  const check = checkText(deployment, run);
  const why = evidence === null ? '' : `, evidence: ${evidence}`;
  return `${partText(outcome, run)}${why}${lastFacts(lastStatus, polls)}${check === null ? '' : `; ${check}`}`;
}

function lastFacts(lastStatus: string | null, polls: number): string {
  return lastStatus === null ? '' : `, last status "${plainText(lastStatus)}" after ${counted(polls, 'poll')}`;
}

export function colorize({ outcome, error }: Pick<RunResult, 'outcome' | 'error'>, text: string): string {
  if (outcome === 'completed') return colors.green(text);
  return outcome === null && (error === null || hasStoppedWaiting({ error })) ? text : colors.red(text);
}

export function durationOf(from: string | null, to: string | null): string | null {
  return from === null || to === null ? null : glanceText(Date.parse(to) - Date.parse(from));
}

/* The table of `belay list`. */

const COLUMNS: readonly Column[] = [
  { title: 'STARTED' },
  { title: 'STATE' },
  { title: 'TOOK' },
  { title: 'SITES', cut: { to: 8, turn: 1 } },
  { title: 'FROM', cut: { to: 8, turn: 0 } },
  { title: 'RUN' },
];
const FROM = COLUMNS.findIndex(({ title }) => title === 'FROM');

/** @param columns of the screen. @returns the line of titles, then one for each run */
export function runTable(runs: readonly RunResult[], columns: number): string[] {
  const rows = runs.map(cellsOf);
  // Most runs that people start have no such notes.
  const shown = (_: unknown, index: number) => index !== FROM || rows.some((cells) => cells[FROM] !== '');
  const [titles = '', ...lines] = tableLines(
    COLUMNS.filter(shown),
    rows.map((cells) => cells.filter(shown)),
    columns,
  );
  return [
    titles,
    ...lines.map((line, index) => {
      const run = runs[index]!;
      const state = stateOfResult(run);
      const colored = line.replace(state, () => colorize(run, state));
      return colored + reasonIn(run, columns - screenWidth(line));
    }),
  ];
}

function cellsOf(run: RunResult): string[] {
  const { startedAt, endedAt, deployments, workflowId } = run;
  return [
    startedAt === null ? '–' : secondsOf(startedAt),
    stateOfResult(run),
    durationOf(startedAt, endedAt) ?? '–',
    deployments.map(({ target }) => targetLabel(target, plainText)).join(', ') || '–',
    fromText(run.meta ?? {}),
    workflowId ?? '',
  ];
}

/** `ann 3f2c1ab00000`: who started the job in CI, and its commit. */
const fromText = ({ by = '', commit = '' }: Record<string, string>): string =>
  [plainText(by, 40), commitText(plainText(commit))].filter((it) => it !== '').join(' ');
