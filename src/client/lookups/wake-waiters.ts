/** Waking whoever waits on a server or site: a signal, and the reads decide. A flood of events costs few signals. */
import type { Client } from '@temporalio/client';
import { SIGNALS } from '../../contract/run.ts';
import type { Hint, WakeInput } from '../../contract/event.ts';
import { backupServerId, deploySiteId, waitingRunPrefixes } from '../../contract/ids/workflow-ids.ts';
import { quoted } from '../connection/list-filter.ts';
import { createSignaller } from './throttled-signal.ts';

const MAX_RUNS = 200;

/** One for each worker. */
export function createWaker(client: Client): (input: WakeInput) => Promise<string[]> {
  const signal = createSignaller<Hint>(client, SIGNALS.hint, ({ claim }) => claim && { ...claim, event: '' });
  return async ({ claim, except, ...named }) => {
    // Locks are found by their ids; runs that wait without one, for a backup that is there or a push, by a search.
    const locks = [
      ...(named.serverId === null ? [] : [backupServerId(named.serverId)]),
      ...(named.siteId === null ? [] : [deploySiteId(named.siteId)]),
    ];
    const wakeAll = async (ids: string[]) => {
      const others = ids.filter((id) => !except.includes(id));
      const there = await Promise.all(others.map((id) => signal(id, { claim })));
      return others.filter((_, index) => there[index]);
    };
    const woken = await Promise.all([wakeAll(locks), waitingRuns(client, named).then(wakeAll)]);
    return woken.flat();
  };
}

async function waitingRuns(client: Client, named: Pick<WakeInput, 'serverId' | 'siteId'>): Promise<string[]> {
  const prefixes = waitingRunPrefixes(named).map((prefix) => `WorkflowId STARTS_WITH ${quoted(prefix)}`);
  if (prefixes.length === 0) return [];
  const ids: string[] = [];
  const query = `ExecutionStatus = 'Running' AND (${prefixes.join(' OR ')})`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize: MAX_RUNS })) {
    if (ids.push(workflowId) >= MAX_RUNS) break;
  }
  return ids;
}
