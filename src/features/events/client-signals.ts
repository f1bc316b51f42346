/** Signals the workflows that wait for a server or site to read now. A flood of events causes few signals. */
import type { Client, WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import { OPERATION_TYPES, QUERIES, SIGNALS, HOLD_SIGNAL, ROLLOUT_TYPE } from '../../contract/names.ts';
import type { Hint } from '../../contract/polling.ts';
import type { WakeInput } from './shapes.ts';
import { leavesRoomInRollout } from '../../contract/history-budget.ts';
import { MAX_TARGETS } from '../../request/limits.ts';
import { backupServerId, deploySiteId, waitingRunPrefixes } from '../../contract/ids.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { isPending } from '../../contract/results.ts';
import { TIMING } from '../../contract/timing.ts';
import { firstListed, ofType, quoted, RUNNING } from '../../client/list-filter.ts';
import { acceptsSignals, createThrottledSignal, type SignalClock, isOfService } from '../../client/lookups/signals.ts';
import type { ServerHold, HoldInput, RolloutMemo, RolloutProgress } from '../rollouts/shapes.ts';

const MAX_RUNS = 200;

/** Create one per worker, because it limits the rate of signals. */
export function createWakeWaiters(client: Client, clock?: SignalClock): (input: WakeInput) => Promise<string[]> {
  // Two events that claim the same cause one signal.
  const kindOf = ({ claim }: Hint) => claim && { ...claim, event: '' };
  const accepts = (handle: WorkflowHandle, { services }: Hint) => acceptsSignals(handle, services, pollsItself);
  const signal = createThrottledSignal<Hint>(client, SIGNALS.hint, kindOf, accepts, clock);
  return async ({ claim, services, excludeWorkflowIds, ...named }) => {
    // Locks are found by id. Runs that wait without a lock, for an existing backup or a push, are found by a search.
    const locks = [
      ...(named.serverId === null ? [] : [backupServerId(named.serverId)]),
      ...(named.siteId === null ? [] : [deploySiteId(named.siteId)]),
    ];
    const wakeAll = async (ids: string[]) => {
      const others = ids.filter((id) => !excludeWorkflowIds.includes(id));
      const signalled = await Promise.all(others.map((id) => signal(id, { claim, ...definedFields({ services }) })));
      return others.filter((_, index) => signalled[index]);
    };
    const woken = await Promise.all([wakeAll(locks), waitingRuns(client, named).then(wakeAll)]);
    return woken.flat();
  };
}

/**
 * While an operation of a run is polling, the run itself polls nothing. A signal to the run would only delay what
 * follows the operation.
 */
const pollsItself = ({ raw }: WorkflowExecutionDescription): boolean =>
  raw.pendingChildren?.some(({ workflowTypeName }) => OPERATION_TYPES.includes(workflowTypeName ?? '')) !== true;

async function waitingRuns(client: Client, named: Pick<WakeInput, 'serverId' | 'siteId'>): Promise<string[]> {
  const prefixes = waitingRunPrefixes(named).map((prefix) => `WorkflowId STARTS_WITH ${quoted(prefix)}`);
  if (prefixes.length === 0) return [];
  const found = await firstListed(client, `${RUNNING} AND (${prefixes.join(' OR ')})`, MAX_RUNS);
  return found.map(({ workflowId }) => workflowId);
}

/**
 * A flood of events about many servers would fill the history of their rollout, which Temporal then terminates. A long
 * history may also be that of the servers that have ended. Only the rollout knows how many are left.
 *
 * @throws Error if the rollout has to be asked and does not answer
 */
async function hasRoomForHold(
  client: Client,
  handle: WorkflowHandle,
  description: WorkflowExecutionDescription,
): Promise<boolean> {
  const { historyLength, memo } = description;
  const { servers } = (memo ?? {}) as Partial<RolloutMemo>;
  if (leavesRoomInRollout(historyLength, servers?.length ?? MAX_TARGETS)) return true;
  const { result } = await client.withDeadline(Date.now() + TIMING.client.queryMs, () =>
    handle.query<RolloutProgress>(QUERIES.progress),
  );
  return leavesRoomInRollout(historyLength, result.targets.filter(isPending).length);
}

/** Create one per worker, because it limits the rate of signals. */
export function createHoldServer(client: Client, clock?: SignalClock): (input: HoldInput) => Promise<string[]> {
  const accepts = (handle: WorkflowHandle) =>
    acceptsSignals(handle, undefined, undefined, (it) => hasRoomForHold(client, handle, it));
  const signal = createThrottledSignal<ServerHold>(client, HOLD_SIGNAL, ({ serverId }) => serverId, accepts, clock);
  return async ({ hold, excludeWorkflowIds }) => {
    const rollouts = await firstListed(client, `${ofType(ROLLOUT_TYPE)} AND ${RUNNING}`);
    const concerned = rollouts.filter((rollout) => {
      const { servers } = (rollout.memo ?? {}) as Partial<RolloutMemo>;
      // A rollout that was started from the UI has no list of servers.
      const mayHaveIt = servers?.includes(hold.serverId) ?? true;
      return mayHaveIt && isOfService(rollout, hold.services) && !excludeWorkflowIds.includes(rollout.workflowId);
    });
    const ids = concerned.map(({ workflowId }) => workflowId);
    const signalled = await Promise.all(ids.map((id) => signal(id, hold)));
    return ids.filter((_, index) => signalled[index]);
  };
}
