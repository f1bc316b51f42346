/** Prints a rollout as one JSON document, or as lines for people. */
import { printJson } from '../../process/json-document.ts';
import { print } from '../../process/print.ts';
import type { RolloutPhase, RolloutResult, TargetResult } from './shapes.ts';
import { heldIn, heldText } from '../freezes/text.ts';
import { emptyRollout } from '../../contract/results.ts';
import { BelayError } from '../../contract/errors.ts';
import { countsText, pendingText } from '../../contract/tally-text.ts';
import { targetLabel } from '../../contract/target-text.ts';
import { plainText } from '../../contract/safe-text.ts';
import { durationOf, errorOf, colorize, hasStoppedWaiting, lineInList, stateOfResult } from '../../cli/run-text.ts';

export function rolloutOfError(error: unknown): RolloutResult {
  const known = error instanceof BelayError ? error.rollout : null;
  return { ...(known ?? emptyRollout()), error: errorOf(error) };
}

export function printRollout(result: RolloutResult, json: boolean): void {
  if (json) printJson(result);
  else print(rolloutLines(result));
}

/** Leaves out the completed servers, which were printed as they finished. */
export function printRolloutEnd(result: RolloutResult, json: boolean): void {
  if (json) return printJson(result);
  const unfinished = result.targets.filter(({ outcome }) => outcome !== 'completed');
  print(rolloutLines(result, unfinished));
}

function rolloutLines(result: RolloutResult, targets = result.targets): string[] {
  const { outcome, error, workflowId, links, decisions, servers, deployments } = result;
  const took = durationOf(result.startedAt, result.endedAt);
  return [
    `${colorize(result, stateOfResult(result))}${took === null || outcome === null ? '' : ` in ${took}`}`,
    ...(error === null || hasStoppedWaiting(result) ? [] : [`  ${plainText(error.message, 400)}`]),
    `  servers: ${countsText(servers, result.phase)}`,
    `  deployments: ${countsText(deployments, result.phase)}`,
    ...heldIn(result).map((it) => `  ${heldText(it)}`),
    ...decisions.map(({ at, action, by, reason }) => `  ${at} ${action} by ${plainText(by)}: ${plainText(reason)}`),
    ...targets.map((target) => `  ${targetLine(target, result.phase)}`),
    ...(workflowId === null ? [] : [`  rollout: ${workflowId}`]),
    ...(links.ui === null ? [] : [`  in the Temporal UI: ${links.ui}`]),
  ];
}

/** `server 12 (canary): failed, 2 completed, 1 failed: site 34 …` */
export function targetLine(target: TargetResult, phase: RolloutPhase | null = null): string {
  const { serverId, wave, outcome, startedAt, deployments, error, heldByEvent } = target;
  const notStarted = heldByEvent === null ? pendingText(phase) : `held by ${heldByEvent}`;
  const state = startedAt === null ? notStarted : 'in progress';
  const ended = deployments
    .filter((it) => it.outcome !== null)
    .map((it) => `${targetLabel(it.target, plainText)} ${it.outcome}`);
  const sites = outcome === null || ended.length === 0 ? '' : `, sites: ${ended.join(', ')}`;
  const why = error === null ? '' : `: ${plainText(error.message, 120)}`;
  return `server ${plainText(serverId)} (${wave}): ${colorize({ outcome, error }, outcome ?? state)}${sites}${why}`;
}

/** `2026-11-21T02:30:34Z  completed  rollout:steady:…, attempt 2  97 completed, 3 failed` @param columns as of `listLine` */
export function rolloutListLine(result: RolloutResult, columns: number | null): string {
  const { outcome, phase, error, workflowId, servers, attempt } = result;
  const state = outcome ?? error?.type ?? phase ?? 'in progress';
  const which = attempt === 1 ? workflowId : `${workflowId}, attempt ${attempt}`;
  return lineInList(result, { state, about: `${which}  ${countsText(servers, phase)}`, columns });
}
