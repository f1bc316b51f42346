/** What a firing of a schedule does, operation by operation. Pure. */
import { partsOf } from '../rollouts/shapes.ts';
import type { ScheduledInput } from './shapes.ts';
import { targetsOf } from '../../contract/target.ts';
import type { PlannedOperation } from '../../config/policy.ts';

export function scheduledOperations(start: ScheduledInput['start']): PlannedOperation[] {
  if (start.type === 'watchDeployment') return [];
  const { fleet } = start.input;
  return partsOf(start.input).flatMap(({ serverId, ...input }): PlannedOperation[] => [
    ...(serverId === undefined ? [] : [{ serverId, fleet }]),
    ...targetsOf(input).map((target) => ({ target, serverId, fleet })),
  ]);
}
