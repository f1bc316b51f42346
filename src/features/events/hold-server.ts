/** Lets the rollouts in flight hold a server. The search for rollouts lags, so it runs twice. */
import { sleep, workflowInfo } from '@temporalio/workflow';
import type { ServiceEvent } from './shapes.ts';
import { plainText } from '../../contract/safe-text.ts';
import { TIMING } from '../../contract/timing.ts';
import { signalRollouts } from '../../workflows/activity-proxies.ts';

/** @returns the workflow ids of the rollouts that were signalled */
export async function holdServer(
  { kind, serverId, siteId, backupId }: ServiceEvent,
  services: string[],
): Promise<string[]> {
  if (serverId === null || (kind !== 'alert.fired' && kind !== 'resource.deleted')) return [];
  // Only the site or the backup was deleted; the server still exists.
  if (kind === 'resource.deleted' && (siteId !== null || backupId !== null)) return [];
  const hold = { serverId, event: workflowInfo().workflowId, reason: REASON[kind], services };
  const summary = `hold server ${plainText(serverId, 40)} in rollouts`;
  const signal = (excludeWorkflowIds: string[]) =>
    signalRollouts.holdServer.executeWithOptions({ summary }, [{ hold, excludeWorkflowIds }]).catch(() => []);
  const first = await signal([]);
  await sleep(TIMING.event.searchLagMs, { summary: 'before a second search, because search results lag' });
  return [...first, ...(await signal(first))];
}

const REASON = { 'alert.fired': 'an alert fired', 'resource.deleted': 'it was deleted' } as const;
