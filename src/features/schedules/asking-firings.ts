/** Which approvals the firings of a schedule ask for. Pure. */
import type { ScheduledInput } from './shapes.ts';
import type { Policy } from '../../config/policy.ts';
import { scheduledOperations } from './scheduled-operations.ts';

/** @returns the names of the approvals, those that the schedule itself names last */
export function askedByFirings(
  start: ScheduledInput['start'],
  { approvalsFor }: Pick<Policy, 'approvalsFor'>,
): string[] {
  const deployments = scheduledOperations(start).filter((it) => 'target' in it);
  if (deployments.length === 0) return [];
  const { input } = start;
  const named = [...[input.approval].flat(), ...('waves' in input ? input.waves.map(({ approval }) => approval) : [])];
  const needed = deployments.flatMap(approvalsFor).map(({ rule }) => rule.name);
  return [...new Set([...needed, ...named.filter((it) => it !== undefined)])];
}
