/** Runs whose backup is always too old for their deployment: the message says from when on its age was counted. */
import assert from 'node:assert/strict';
import type { RunResult } from '../../src/contract/run.ts';

export const OLD_AT_ONCE = { maxAgeAtDeployMs: 1 };

/** @returns from when on the age was counted */
export function countedFrom({ outcome, error, backup }: RunResult): string {
  assert.deepEqual([outcome, error?.type, backup?.outcome], ['not_started', 'TooLate', 'completed']);
  const at = /the backup may be at most 1ms old, which was (\S+)$/.exec(error?.message ?? '')?.[1];
  return new Date(Date.parse(at ?? '') - OLD_AT_ONCE.maxAgeAtDeployMs).toISOString();
}
