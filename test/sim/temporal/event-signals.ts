/** Whom events reach, as src/client/signals finds them. Searches of the model do not lag, and no flood is limited. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { WakeInput } from '../../../src/contract/event.ts';
import { HOLD_SIGNAL, ROLLOUT_TYPE, SIGNALS } from '../../../src/contract/names.ts';
import { backupServerId, deploySiteId, waitingRunPrefixes } from '../../../src/contract/ids/workflow-ids.ts';
import type { HoldInput, RolloutMemo } from '../../../src/contract/rollout.ts';
import { isOfService } from '../../../src/client/signals/accepts-signals.ts';
import { memoOf } from './lookups.ts';
import type { Run, Server } from './types.ts';

export interface EventSignals {
  holdServer: (input: HoldInput) => string[];
  wakeWaiters: (input: WakeInput) => string[];
}

export function createEventSignals(server: () => Server): EventSignals {
  /** @returns the ids of those that exist */
  function signalAll(name: string, argument: unknown, isMeant: (run: Run) => boolean): string[] {
    const meant = server().runs.filter((run) => run.closedMs === null && isMeant(run));
    const sent = meant.filter(
      (run) => server().signal({ workflowId: run.workflowId }, name, [payloads.toPayload(argument)]) === 'delivered',
    );
    return sent.map(({ workflowId }) => workflowId);
  }
  const isOf = (run: Run, services: string[] | undefined) => isOfService({ memo: memoOf(run) }, services);

  return {
    holdServer: ({ hold, excludeWorkflowIds }) =>
      signalAll(HOLD_SIGNAL, hold, (run) => {
        const { servers } = memoOf<Partial<RolloutMemo>>(run);
        const mayHaveIt = run.type === ROLLOUT_TYPE && (servers?.includes(hold.serverId) ?? true);
        return mayHaveIt && isOf(run, hold.services) && !excludeWorkflowIds.includes(run.workflowId);
      }),
    wakeWaiters({ claim, services, excludeWorkflowIds, ...named }) {
      const { serverId, siteId } = named;
      const locks = [serverId === null ? [] : backupServerId(serverId), siteId === null ? [] : deploySiteId(siteId)];
      const prefixes = waitingRunPrefixes(named);
      return signalAll(SIGNALS.hint, { claim, services }, (run) => {
        const { workflowId } = run;
        const isNamed = locks.flat().includes(workflowId) || prefixes.some((it) => workflowId.startsWith(it));
        return isNamed && isOf(run, services) && !excludeWorkflowIds.includes(workflowId);
      });
    },
  };
}
