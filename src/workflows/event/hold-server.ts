/** An event about a server keeps rollouts from beginning with it: they are found by a search, which lags. */
import { proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { ServiceEvent } from '../../contract/event.ts';
import { plainText } from '../../contract/wording/safe-text.ts';

const LOOK_AGAIN_MS = 5_000;

const activities = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  scheduleToCloseTimeout: '5 minutes',
});

/** @returns the workflow ids of the rollouts that were told */
export async function holdServer({ kind, serverId, siteId, backupId }: ServiceEvent): Promise<string[]> {
  if (serverId === null || (kind !== 'alert.fired' && kind !== 'resource.deleted')) return [];
  // What was deleted is the site or the backup then; the server is where it was.
  if (kind === 'resource.deleted' && (siteId !== null || backupId !== null)) return [];
  const hold = { serverId, event: workflowInfo().workflowId, why: WHY[kind] };
  const summary = `rollouts are not to begin with ${plainText(serverId, 40)}`;
  const tell = (except: string[]) =>
    activities.holdServer.executeWithOptions({ summary }, [{ hold, except }]).catch(() => []);
  const first = await tell([]);
  await sleep(LOOK_AGAIN_MS, { summary: 'before rollouts are looked for that a search did not show yet' });
  return [...first, ...(await tell(first))];
}

const WHY = { 'alert.fired': 'an alert fired', 'resource.deleted': 'it was deleted' } as const;
