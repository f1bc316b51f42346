/** Which of the next firings of a schedule would fall into a freeze of belay.yaml. Pure. */
import type { FrozenBy } from '../freezes/shapes.ts';
import type { ScheduledInput, Times } from './shapes.ts';
import { DAY_MS } from '../../contract/duration.ts';
import { nextSpan } from '../../request/calendar/local-spans.ts';
import type { Policy, PlannedOperation } from '../../config/policy.ts';
import { partsOf } from '../rollouts/shapes.ts';
import { targetsOf } from '../../contract/target.ts';

export interface FrozenFiring {
  /** When it is due, ISO 8601. */
  at: string;
  by: FrozenBy[];
}

const MAX_LOOKED_AT = 50;
const AHEAD_MS = 31 * DAY_MS;
const MINUTE_MS = 60_000;

/** The next times at which a schedule fires. @param times on the clocks of its zone @returns milliseconds since 1970 */
export function* nextFirings(times: readonly Times[], timeZone: string, nowMs: number): Generator<number, void> {
  for (let atMs: number | undefined = nowMs; ;) {
    atMs = nextSpan({ times, lastsMs: MINUTE_MS, timeZone }, { begins: 'first', ends: 'first' }, atMs)?.beginMs;
    if (atMs === undefined) return;
    yield atMs;
  }
}

/** @param times when it fires, on the clocks of its zone @returns those of the next 31 days, 50 firings at most */
export function frozenFirings(
  { start, timeZone }: Pick<ScheduledInput, 'start' | 'timeZone'>,
  times: readonly Times[],
  policy: Pick<Policy, 'frozenBy'>,
  nowMs: number,
): FrozenFiring[] {
  const operations = scheduledOperations(start);
  const found: FrozenFiring[] = [];
  let looked = 0;
  for (const dueMs of nextFirings(times, timeZone, nowMs)) {
    looked += 1;
    if (looked > MAX_LOOKED_AT || dueMs > nowMs + AHEAD_MS) break;
    const by = operations.map((it) => policy.frozenBy(it, dueMs)).find(({ length }) => length > 0);
    if (by !== undefined) found.push({ at: new Date(dueMs).toISOString(), by });
  }
  return found;
}

/* Which approvals the firings of a schedule ask for. Pure. */

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

/* What a firing of a schedule does, operation by operation. Pure. */

function scheduledOperations(start: ScheduledInput['start']): PlannedOperation[] {
  if (start.type === 'watchDeployment') return [];
  const { fleet } = start.input;
  return partsOf(start.input).flatMap(({ serverId, ...input }): PlannedOperation[] => [
    ...(serverId === undefined ? [] : [{ serverId, fleet }]),
    ...targetsOf(input).map((target) => ({ target, serverId, fleet })),
  ]);
}
