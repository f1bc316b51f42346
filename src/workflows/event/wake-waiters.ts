/** Wakes whoever waits on what an event names: by the ids of locks, by the record of a backup, and by a search. */
import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { Claim, ServiceEvent } from '../../contract/event.ts';
import { namesIn } from '../../contract/wording/event-subjects.ts';
import { plainText } from '../../contract/wording/safe-text.ts';

/** Runs that wait by themselves are found by a search, which lags. */
const LOOK_AGAIN_MS = 5_000;

const { wake } = proxyActivities<Activities>({
  startToCloseTimeout: '15 seconds',
  scheduleToCloseTimeout: '5 minutes',
});

/** A trigger is answered or given up within 12 s, and then the record of its backup is there. */
const { serversOfBackup } = proxyActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  scheduleToCloseTimeout: '20 seconds',
  retry: { initialInterval: '100 milliseconds', maximumInterval: '5 seconds' },
});

interface Named {
  serverId: string | null;
  siteId: string | null;
}

/** @param onWoken told whenever there are more of them: all workflow ids so far */
export async function wakeWaiters(
  { serverId, siteId, backupId }: ServiceEvent,
  claim: Claim | null,
  onWoken: (woken: string[]) => void,
): Promise<void> {
  const woken: string[] = [];
  const wakeThose = async (named: Named) => {
    if (named.serverId === null && named.siteId === null) return;
    // Temporal refuses a summary over 400 bytes.
    const names = namesIn({ ...named, backupId: null }, (id) => plainText(id, 40));
    const summary = `who waits on ${names.join(' and ')}`;
    // A hint is worth so much and no more: polls find what it tells, too.
    const input = { ...named, claim, except: woken };
    woken.push(...(await wake.executeWithOptions({ summary }, [input]).catch(() => [])));
    onWoken(woken);
  };
  const wakeTwice = async (named: Named) => {
    await wakeThose(named);
    await sleep(LOOK_AGAIN_MS, { summary: 'before those are looked for that a search did not show yet' });
    await wakeThose(named);
  };
  const wakeByBackup = async (id: string) => {
    const servers = await serversOf(id);
    // A sender may know a server by another name than ours.
    const others = servers.filter((server) => server !== serverId);
    await Promise.all(others.map((server) => wakeTwice({ serverId: server, siteId: null })));
  };
  const byName = serverId === null && siteId === null ? null : wakeTwice({ serverId, siteId });
  await Promise.all([byName, backupId === null ? null : wakeByBackup(backupId)]);
}

/** None for a backup nobody here waits for. */
async function serversOf(backupId: string): Promise<string[]> {
  const summary = `which server backup ${plainText(backupId, 60)} is of`;
  return serversOfBackup.executeWithOptions({ summary }, [{ backupId }]).catch(() => []);
}
