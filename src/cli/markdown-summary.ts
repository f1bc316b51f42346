/** `--summary FILE`: appends the result to the file as Markdown, for the page of a CI job. */
import { appendFile } from 'node:fs/promises';
import type { Outcome } from '../contract/names.ts';
import type { RunResult } from '../contract/run.ts';
import type { RolloutResult, OutcomeCounts, TargetResult } from '../features/rollouts/shapes.ts';
import { countOutcomes, worstFirst, counted, countsText } from '../contract/results.ts';
import { targetLabel } from '../contract/target.ts';
import { linkTarget, tableRows } from '../contract/markdown.ts';
import { codeSpan } from '../contract/safe-text.ts';
import type { OperationAdvice } from '../features/advice/rules.ts';
import { adviceMarkdown } from '../features/advice/actions.ts';
import { heldIn, heldText } from '../features/freezes/text.ts';
import { partText, stateOfResult } from './run-text.ts';
import { printNote } from '../process/print.ts';

/** CI limits the size of a page. Where rows are left out, those that are not `completed` come first. */
const MAX_ROWS = 500;

/** A file that cannot be written is reported, but does not change the verdict. */
export async function writeSummary(file: string | undefined, markdown: () => string | Promise<string>): Promise<void> {
  if (file === undefined) return;
  await appendFile(file, `${await markdown()}\n`).catch((error: NodeJS.ErrnoException) => {
    printNote(`belay: --summary ${file} was not written (${error.code ?? 'unknown error'})`);
  });
}

export function runMarkdown(result: RunResult, advice: readonly OperationAdvice[] = []): string {
  const { backup, deployments, workflowId, commit } = result;
  const parts = [
    ...(backup === null ? [] : [{ ...backup, evidence: null, part: `backup of ${codeSpan(backup.serverId)}` }]),
    ...deployments.map((it) => ({ ...it, part: `deployment of ${targetLabel(it.target, codeSpan)}` })),
  ];
  return [
    ...head(workflowId ?? 'no run', result),
    ...table(
      ['part', 'outcome', 'evidence', 'last status'],
      (parts.length > MAX_ROWS ? worstFirst(parts) : parts).map(({ part, outcome, evidence, lastStatus }) => [
        part,
        partText(outcome, result),
        evidence ?? '',
        lastStatus === null ? '' : codeSpan(lastStatus),
      ]),
    ),
    ...below(result.commitSeen === false ? [`commit ${codeSpan(commit ?? '')} was named, not seen`] : []),
    ...below(adviceMarkdown(advice)),
  ].join('\n');
}

export function rolloutMarkdown(result: RolloutResult): string {
  const { servers, deployments, targets, decisions, workflowId } = result;
  return [
    ...head(workflowId ?? 'no rollout', result),
    `- servers: ${countsText(servers, result.phase)}`,
    `- deployments: ${countsText(deployments, result.phase)}`,
    ...decisions.map(({ at, action, by, reason }) => `- ${at} ${action} by ${codeSpan(by)}: ${codeSpan(reason)}`),
    '',
    ...table(['server', 'wave', 'outcome', 'deployments', 'why'], worstFirst(targets).map(targetRow)),
  ].join('\n');
}

export function listMarkdown(runs: RunResult[]): string {
  return [
    `### Belay: ${counted(runs.length, 'run')}: ${countsText(countRuns(runs))}`,
    '',
    ...table(
      ['started', 'run', 'outcome', 'why'],
      worstFirst(runs).map(({ startedAt, workflowId, outcome, error }) => [
        startedAt ?? '',
        codeSpan(workflowId ?? ''),
        outcome ?? error?.type ?? 'in progress',
        error === null ? '' : codeSpan(error.message),
      ]),
    ),
  ].join('\n');
}

export function countRuns(runs: RunResult[]): OutcomeCounts {
  return countOutcomes(runs.map((run) => ({ outcome: run.outcome ?? presumedOutcome(run), isRunning: true })));
}

/** A run has no outcome while it is in progress, if its input was rejected, or after a defect. */
function presumedOutcome({ error }: RunResult): Outcome | null {
  if (error === null) return null;
  return error.type === 'Usage' ? 'not_started' : 'unknown';
}

function targetRow({ serverId, wave, outcome, deployments, error, heldByEvent }: TargetResult): string[] {
  const deployed = countsText(countOutcomes(deployments.map((it) => ({ outcome: it.outcome, isRunning: false }))));
  const why = error?.message ?? (heldByEvent === null ? '' : `held by ${heldByEvent}`);
  return [codeSpan(serverId), codeSpan(wave), outcome ?? 'no outcome yet', deployed, why === '' ? '' : codeSpan(why)];
}

/** After a table. */
const below = (lines: string[]): string[] => (lines.length === 0 ? [] : ['', ...lines]);

function head(title: string, result: RunResult | RolloutResult): string[] {
  const { error, links, attached, endedAt } = result;
  const held = heldIn(result);
  const joined = `Started by an earlier command${endedAt === null ? '' : `, ended at ${endedAt}`}: this one started nothing.`;
  return [
    `### Belay: ${codeSpan(title)}`,
    '',
    `**${codeSpan(stateOfResult(result))}**${links.ui === null ? '' : ` ([Temporal UI](${linkTarget(links.ui)}))`}`,
    '',
    ...(error === null ? [] : [codeSpan(error.message), '']),
    ...(attached ? [joined, ''] : []),
    ...(held.length === 0 ? [] : [...held.map((it) => `- ${heldText(it, codeSpan)}`), '']),
  ];
}

function table(names: string[], rows: string[][]): string[] {
  if (rows.length === 0) return [];
  const omitted = rows.length - MAX_ROWS;
  return [...tableRows(names, rows.slice(0, MAX_ROWS)), ...(omitted > 0 ? ['', `and ${omitted} more`] : [])];
}
