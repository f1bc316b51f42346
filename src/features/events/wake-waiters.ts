/** Wakes the workflows that wait for what an event names, found by lock id, by backup record and by search. */
import { sleep } from '@temporalio/workflow';
import type { ServiceEvent, WakeInput } from './shapes.ts';
import { eventSubjects } from './event-subjects.ts';
import { plainText } from '../../contract/safe-text.ts';
import { TIMING } from '../../contract/timing.ts';
import { findServersOfBackup, signalWaiters } from '../../workflows/activity-proxies.ts';

interface Named {
  serverId: string | null;
  siteId: string | null;
}

/** @param onWoken called with all workflow ids so far whenever there are more */
export async function wakeWaitersOf(
  { serverId, siteId, backupId }: ServiceEvent,
  { claim, services }: Pick<Required<WakeInput>, 'claim' | 'services'>,
  onWoken: (woken: string[]) => void,
): Promise<void> {
  const woken: string[] = [];
  const wakeThose = async (named: Named) => {
    if (named.serverId === null && named.siteId === null) return;
    // Temporal rejects a summary over 400 bytes.
    const names = eventSubjects({ ...named, backupId: null }, (id) => plainText(id, 40));
    const summary = `wake waiters of ${names.join(' and ')}`;
    // A failed signal only costs time: the next poll reads the same status.
    const input = { ...named, claim, services, excludeWorkflowIds: woken };
    woken.push(...(await signalWaiters.wakeWaiters.executeWithOptions({ summary }, [input]).catch(() => [])));
    onWoken(woken);
  };
  const wakeTwice = async (named: Named) => {
    await wakeThose(named);
    await sleep(TIMING.event.searchLagMs, { summary: 'before a second search, because search results lag' });
    await wakeThose(named);
  };
  const wakeByBackup = async (id: string) => {
    const servers = await serversOf(id, services);
    // The sender may use another id for the server than Belay does.
    const others = servers.filter((server) => server !== serverId);
    await Promise.all(others.map((server) => wakeTwice({ serverId: server, siteId: null })));
  };
  const byName = serverId === null && siteId === null ? null : wakeTwice({ serverId, siteId });
  await Promise.all([byName, backupId === null ? null : wakeByBackup(backupId)]);
}

/** Empty for a backup that no run here waits for. */
async function serversOf(backupId: string, services: string[]): Promise<string[]> {
  const summary = `find the server of backup ${plainText(backupId, 60)}`;
  return findServersOfBackup.executeWithOptions({ summary }, [{ backupId, services }]).catch(() => []);
}
