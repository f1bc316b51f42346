/** Prints the result of a run on stdout, as one JSON document or as lines for people. */
import colors from 'picocolors';
import type { BackupResult, DeploymentResult, RunError, RunResult } from '../../contract/run.ts';
import type { RolloutResult } from '../../contract/rollout.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { printJson } from '../../process/json-document.ts';
import { print } from '../../process/print.ts';
import { emptyResult } from '../../contract/results/empty-results.ts';
import { checkText } from '../../contract/wording/check-text.ts';
import { heldIn, heldText } from '../../contract/wording/freeze-text.ts';
import { counted } from '../../contract/wording/tally-text.ts';
import { targetLabel } from '../../contract/wording/target-text.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { messageOf } from '../../contract/wording/message-of.ts';

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

/** The outcome; else the type of the error; else the phase. */
export function stateOfResult({ outcome, phase, error }: RunResult | RolloutResult): string {
  return outcome ?? error?.type ?? `in progress: ${phase ?? 'phase unknown'}`;
}

export function printResult(result: RunResult, json: boolean): void {
  if (json) printJson(result);
  else print(resultLines(result));
}

export function resultLines(result: RunResult): string[] {
  const { outcome, error, backup, deployments, workflowId, links } = result;
  const took = durationOf(result.startedAt, result.endedAt);
  return [
    `${colorize(result, stateOfResult(result))}${took === null || outcome === null ? '' : ` in ${took}`}`,
    ...(error === null ? [] : [`  ${plainText(error.message, 400)}`]),
    ...heldIn(result).map((it) => `  ${heldText(it)}`),
    ...(backup === null ? [] : [`  backup of ${plainText(backup.serverId)}: ${backupFacts(backup)}`]),
    ...deployments.map((it) => `  deployment of ${targetLabel(it.target, plainText)}: ${deploymentFacts(it, result)}`),
    ...(workflowId === null ? [] : [`  run: ${workflowId}`]),
    ...(links.ui === null ? [] : [`  in the Temporal UI: ${links.ui}`]),
  ];
}

/** `2026-11-21T02:30:34Z  completed  backup-then-deploy:12:…` */
export function listLine(result: RunResult): string {
  const why = result.error === null || result.outcome === null ? '' : `  ${plainText(result.error.message, 80)}`;
  return `${result.startedAt ?? ''}  ${colorize(result, stateOfResult(result).padEnd(12))}  ${result.workflowId}${why}`;
}

function backupFacts({ outcome, backupId, source, lastStatus, polls }: BackupResult): string {
  const id = backupId === null ? '' : `, id ${plainText(backupId)}${source === null ? '' : ` (${source})`}`;
  return `${outcome ?? 'no outcome yet'}${id}${lastFacts(lastStatus, polls)}`;
}

function deploymentFacts(deployment: DeploymentResult, run: RunResult): string {
  const { outcome, evidence, lastStatus, polls } = deployment;
  const check = checkText(deployment, run);
  const why = evidence === null ? '' : `, evidence: ${evidence}`;
  return `${outcome ?? 'no outcome yet'}${why}${lastFacts(lastStatus, polls)}${check === null ? '' : `; ${check}`}`;
}

function lastFacts(lastStatus: string | null, polls: number): string {
  return lastStatus === null ? '' : `, last status "${plainText(lastStatus)}" after ${counted(polls, 'poll')}`;
}

export function colorize({ outcome, error }: Pick<RunResult, 'outcome' | 'error'>, text: string): string {
  if (outcome === 'completed') return colors.green(text);
  return outcome === null && error === null ? text : colors.red(text);
}

export function durationOf(from: string | null, to: string | null): string | null {
  return from === null || to === null ? null : `${Math.round((Date.parse(to) - Date.parse(from)) / 1000)} s`;
}
