/** What is printed of a rollout: one JSON document, or lines for people. */
import { printDocument } from '../../process/json-document.ts';
import type { RolloutPhase, RolloutResult, TargetResult } from '../../contract/rollout.ts';
import { emptyRollout } from '../../contract/results/empty-results.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { sumText, toComeText } from '../../contract/results/tally.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { durationOf, errorOf, paint, stateOf } from './run-text.ts';

export function rolloutOfError(error: unknown): RolloutResult {
  const known = error instanceof BelayError ? error.rollout : null;
  return { ...(known ?? emptyRollout()), error: errorOf(error) };
}

export function printRollout(result: RolloutResult, json: boolean): void {
  if (json) printDocument(result);
  else process.stdout.write(`${rolloutLines(result).join('\n')}\n`);
}

/** For whoever saw each server end. */
export function printRolloutEnd(result: RolloutResult, json: boolean): void {
  if (json) return printDocument(result);
  const left = result.targets.filter(({ outcome }) => outcome !== 'completed');
  process.stdout.write(`${rolloutLines(result, left).join('\n')}\n`);
}

function rolloutLines(result: RolloutResult, targets = result.targets): string[] {
  const { outcome, error, workflowId, links, decisions, servers, deployments } = result;
  const took = durationOf(result.startedAt, result.endedAt);
  return [
    `${paint(result, stateOf(result))}${took === null || outcome === null ? '' : ` in ${took}`}`,
    ...(error === null ? [] : [`  ${plainText(error.message, 400)}`]),
    `  servers: ${sumText(servers, result.phase)}`,
    `  deployments: ${sumText(deployments, result.phase)}`,
    ...decisions.map(({ at, what, by, why }) => `  ${at} ${what} by ${plainText(by)}: ${plainText(why)}`),
    ...targets.map((target) => `  ${targetLine(target, result.phase)}`),
    ...(workflowId === null ? [] : [`  rollout: ${workflowId}`]),
    ...(links.ui === null ? [] : [`  in the Temporal UI: ${links.ui}`]),
  ];
}

/** `server 12 (canary): failed, 2 completed, 1 failed: site 34 …` */
export function targetLine(target: TargetResult, phase: RolloutPhase | null = null): string {
  const { serverId, wave, outcome, startedAt, deployments, error, heldBy } = target;
  const notBegun = heldBy === null ? toComeText(phase) : `held by ${heldBy}`;
  const waits = startedAt === null ? notBegun : 'under way';
  const ended = deployments.filter((it) => it.outcome !== null).map((it) => `${plainText(it.siteId)} ${it.outcome}`);
  const sites = outcome === null || ended.length === 0 ? '' : `, sites: ${ended.join(', ')}`;
  const why = error === null ? '' : `: ${plainText(error.message, 120)}`;
  return `server ${plainText(serverId)} (${wave}): ${paint({ outcome, error }, outcome ?? waits)}${sites}${why}`;
}

/** `2026-11-21T02:30:34Z  completed  rollout:steady:…  97 completed, 3 failed` */
export function rolloutListLine(result: RolloutResult): string {
  const { startedAt, outcome, phase, error, workflowId, servers } = result;
  const state = (outcome ?? error?.type ?? phase ?? 'in flight').padEnd(12);
  return `${startedAt ?? ''}  ${paint(result, state)}  ${workflowId}  ${sumText(servers, result.phase)}`;
}
