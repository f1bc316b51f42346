/** Start options of runs. They are the same whether a starter, a rollout or a schedule starts the run. Pure. */
import type { FreezeOverride } from '../features/freezes/shapes.ts';
import type { RunInput, RunMemo } from '../contract/run.ts';
import { targetsOf, targetLabel } from '../contract/target.ts';
import { plainText } from '../contract/safe-text.ts';
import { TIMING } from '../contract/timing.ts';
import { runStaticDetails, type RunToStart } from './run-details.ts';

export function runStartOptions(input: RunInput, start: RunToStart) {
  const memo: RunMemo = { input };
  return {
    memo: { ...memo },
    staticSummary: summaryOf(input),
    staticDetails: runStaticDetails(input, start),
    workflowTaskTimeout: TIMING.worker.workflowTaskMs,
  };
}

/** Leaves out who decides, because a retried CI job may run under another name. */
export const sameOverride = (override: FreezeOverride | undefined) =>
  override === undefined ? undefined : { freezes: override.freezes, reason: override.reason };

function summaryOf(input: RunInput): string {
  const { serverId } = input;
  const backup = serverId === undefined ? [] : [`back up ${plainText(serverId, 30)}`];
  const [first, ...rest] = targetsOf(input);
  const more = rest.length === 0 ? '' : ` and ${rest.length} more`;
  const deploy = first === undefined ? [] : [`deploy ${targetLabel(first, (id) => plainText(id, 30))}${more}`];
  const summary = [...backup, ...deploy].join(', then ');
  return summary.charAt(0).toUpperCase() + summary.slice(1);
}
