import type { TargetResult } from '../../src/features/rollouts/shapes.ts';

/** A server of a rollout that has not begun, unless `state` says otherwise. */
export const targetResult = (state: Partial<TargetResult>): TargetResult => ({
  serverId: '12',
  wave: 'all',
  outcome: null,
  workflowId: null,
  backup: null,
  deployments: [],
  error: null,
  heldByEvent: null,
  startedAt: null,
  endedAt: null,
  ...state,
});
