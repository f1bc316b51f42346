/** `--summary FILE`: the result in Markdown, for the page of a CI job. It is added at the end of the file. */
import { appendFile } from 'node:fs/promises';
import type { Outcome, RunResult } from '../../contract/run.ts';
import type { RolloutResult, Sum, TargetResult } from '../../contract/rollout.ts';
import { sumOf, sumText, worstFirst } from '../../contract/results/tally.ts';
import { codeSpan } from '../../contract/wording/safe-text.ts';
import { stateOf } from './run-text.ts';

/** Pages have limits: so many rows, first those that are not completed. */
const MAX_ROWS = 500;

/** What has happened stays the verdict where it can't be written. */
export async function writeSummary(file: string | undefined, markdown: () => string): Promise<void> {
  if (file === undefined) return;
  await appendFile(file, `${markdown()}\n`).catch((error: NodeJS.ErrnoException) => {
    process.stderr.write(`belay: --summary ${file} was not written (${error.code ?? 'unknown error'})\n`);
  });
}

export function runMarkdown(result: RunResult): string {
  const { backup, deployments, workflowId } = result;
  const parts = [
    ...(backup === null ? [] : [[`backup of ${codeSpan(backup.serverId)}`, backup.outcome, backup.lastStatus]]),
    ...deployments.map((it) => [`deployment of ${codeSpan(it.siteId)}`, it.outcome, it.lastStatus]),
  ];
  return [
    ...head(`Belay: ${workflowId ?? 'no run'}`, result),
    ...table(
      ['part', 'outcome', 'last status'],
      parts.map(([part, outcome, last]) => [
        part ?? '',
        outcome ?? 'not ended',
        last === null ? '' : codeSpan(last ?? ''),
      ]),
    ),
  ].join('\n');
}

export function rolloutMarkdown(result: RolloutResult): string {
  const { servers, deployments, targets, decisions, workflowId } = result;
  return [
    ...head(`Belay: ${workflowId ?? 'no rollout'}`, result),
    `- servers: ${sumText(servers, result.phase)}`,
    `- deployments: ${sumText(deployments, result.phase)}`,
    ...decisions.map(({ at, what, by, why }) => `- ${at} ${what} by ${codeSpan(by)}: ${codeSpan(why)}`),
    '',
    ...table(['server', 'wave', 'outcome', 'sites', 'why'], worstFirst(targets).map(targetRow)),
  ].join('\n');
}

export function listMarkdown(runs: RunResult[]): string {
  return [
    `### Belay: ${runs.length} runs: ${sumText(sumOfRuns(runs))}`,
    '',
    ...table(
      ['started', 'run', 'outcome', 'why'],
      worstFirst(runs).map(({ startedAt, workflowId, outcome, error }) => [
        startedAt ?? '',
        codeSpan(workflowId ?? ''),
        outcome ?? error?.type ?? 'in flight',
        error === null ? '' : codeSpan(error.message),
      ]),
    ),
  ].join('\n');
}

export function sumOfRuns(runs: RunResult[]): Sum {
  return sumOf(runs.map((run) => ({ outcome: run.outcome ?? withoutOutcome(run), isRunning: true })));
}

/** One that was refused for its input left none, nor does a defect. */
function withoutOutcome({ error }: RunResult): Outcome | null {
  if (error === null) return null;
  return error.type === 'Usage' ? 'not_started' : 'unknown';
}

function targetRow({ serverId, wave, outcome, deployments, error, heldBy }: TargetResult): string[] {
  const sites = sumText(sumOf(deployments.map((it) => ({ outcome: it.outcome, isRunning: false }))));
  const why = error?.message ?? (heldBy === null ? '' : `held by ${heldBy}`);
  return [codeSpan(serverId), codeSpan(wave), outcome ?? 'not ended', sites, why === '' ? '' : codeSpan(why)];
}

function head(title: string, result: RunResult | RolloutResult): string[] {
  const { error, links } = result;
  return [
    `### ${title}`,
    '',
    `**${stateOf(result)}**${links.ui === null ? '' : ` ([Temporal UI](${links.ui}))`}`,
    '',
    ...(error === null ? [] : [codeSpan(error.message), '']),
  ];
}

function table(names: string[], rows: string[][]): string[] {
  if (rows.length === 0) return [];
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const untold = rows.length - MAX_ROWS;
  return [
    line(names),
    line(names.map(() => '---')),
    ...rows.slice(0, MAX_ROWS).map(line),
    ...(untold > 0 ? ['', `and ${untold} more`] : []),
  ];
}
