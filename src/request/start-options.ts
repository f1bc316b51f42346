/** What runs and rollouts are started with, by whomever: the starter, a rollout, a schedule. Pure. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { WORKFLOW_TASK_TIMEOUT_MS, type RunInput, type RunMemo } from '../contract/run.ts';
import type { RolloutInput, RolloutMemo } from '../contract/rollout.ts';
import { plainText } from '../contract/wording/safe-text.ts';

/** A thousand servers are a long history to read again. */
const ROLLOUT_TASK_TIMEOUT_MS = 10_000;

export function launchOf(input: RunInput) {
  const memo: RunMemo = { input };
  return { memo: { ...memo }, staticSummary: summaryOf(input), workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS };
}

/** @param request of the first attempt, where this is another one */
export function rolloutLaunchOf(input: RolloutInput, request = requestHash(input)) {
  const { name, fleet, waves, attempt = 1 } = input;
  const targets = waves.flatMap((wave) => wave.targets);
  const sites = targets.reduce((sum, { siteIds }) => sum + siteIds.length, 0);
  const servers = targets.map(({ serverId }) => serverId);
  const memo: RolloutMemo = { name, fleet, attempt, request, servers };
  return {
    memo: { ...memo },
    staticSummary: `Roll ${plainText(name, 50)} out to ${targets.length} servers with ${sites} sites`,
    workflowTaskTimeout: ROLLOUT_TASK_TIMEOUT_MS,
  };
}

/** What is to be done. `meta` only says who asked: the next attempt of a CI job may carry another one. */
export function requestHash(input: RolloutInput): string {
  const { service, name, fleet, key, waves, maxAtOnce, maxFailures, onFailures, options, heartbeat } = input;
  const request = { service, name, fleet, key, waves, maxAtOnce, maxFailures, onFailures, options, heartbeat };
  const sorted = (_key: string, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(request, sorted))));
}

function summaryOf({ serverId, siteIds }: RunInput): string {
  const backup = serverId === undefined ? [] : [`back up ${plainText(serverId, 30)}`];
  const [first, ...rest] = siteIds;
  const more = rest.length === 0 ? '' : ` and ${rest.length} more`;
  const deploy = first === undefined ? [] : [`deploy ${plainText(first, 30)}${more}`];
  const summary = [...backup, ...deploy].join(', then ');
  return summary.charAt(0).toUpperCase() + summary.slice(1);
}
