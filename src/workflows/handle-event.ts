/**
 * One delivery of a webhook, under an id that makes a repeated one find its place taken. It wakes whoever waits on
 * what the event names, lets others rest on a backup, and tells the notification targets. Nothing here decides a
 * verdict: the truth is read from the service.
 */
import { ApplicationFailure } from '@temporalio/common';
import { proxyActivities, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { Claim, EventInput, EventResult, Reaction } from '../event-contract.ts';
import { plainText } from '../text.ts';
import { notifyAll } from './notifying.ts';
import { noteFailedBackup, shareBackup } from './backup-record.ts';
import { eventDetails } from './details.ts';

/** Runs that wait by themselves are found by a search, which lags. */
const LOOK_AGAIN_MS = 5_000;

const { wake, findSharedBackup } = proxyActivities<Activities>({
  startToCloseTimeout: '15 seconds',
  scheduleToCloseTimeout: '5 minutes',
});

/** A trigger is answered or given up within 12 s, and then the record of its backup is there. */
const { serversOfBackup } = proxyActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  scheduleToCloseTimeout: '20 seconds',
  retry: { initialInterval: '100 milliseconds', maximumInterval: '5 seconds' },
});

export async function handleEvent(input: EventInput): Promise<EventResult> {
  refuseOtherInput(input);
  const result: EventResult = { woken: [], shared: false, notified: [] };
  const show = () => setCurrentDetails(eventDetails(input, result));
  show();
  const reacts = (reaction: Reaction) => input.reactions.includes(reaction);
  // Who proved nothing may wake and be told of, and that is all.
  const trusts = (reaction: Reaction) => input.verified && reacts(reaction);
  const claim = trusts('end-wait') ? claimOf(input) : null;

  const waking = wakeWaiters(input, claim, (woken) => {
    result.woken = woken;
    show();
  });
  if (trusts('share')) result.shared = await share(input);
  if (claim?.kind === 'backup.failed') await withdraw(input, claim.backupId);
  const unheard = reacts('notify') ? await tell(input, result) : [];
  await waking;
  show();
  if (unheard.length === 0) return result;
  throw ApplicationFailure.create({
    type: 'NotNotified',
    message: `not told within a day: ${unheard.join(', ')}; check the target's address and whether it is there`,
    nonRetryable: true,
    details: [result],
  });
}

/** The UI can start workflows with anything, and a mistake in the code would be tried again for ever. */
function refuseOtherInput(input: Partial<EventInput> | undefined): void {
  const { event, reactions } = input ?? {};
  const names = [event?.serverId, event?.siteId, event?.backupId];
  const isEvent = names.every((id) => id === null || typeof id === 'string') && typeof event?.kind === 'string';
  if (isEvent && Array.isArray(reactions)) return;
  const message = 'this is no event: the webhook receiver starts these, nobody else';
  throw ApplicationFailure.create({ type: 'Usage', message, nonRetryable: true });
}

function claimOf({ event: { kind, backupId, siteId } }: EventInput): Claim | null {
  const event = workflowInfo().workflowId;
  if (kind === 'backup.failed' && backupId !== null) return { kind, backupId, event };
  if (kind === 'resource.deleted' && siteId !== null) return { kind, siteId, event };
  return null;
}

interface Named {
  serverId: string | null;
  siteId: string | null;
}

async function wakeWaiters(
  { event: { serverId, siteId, backupId } }: EventInput,
  claim: Claim | null,
  onWoken: (woken: string[]) => void,
): Promise<void> {
  const woken: string[] = [];
  const wakeThose = async (named: Named) => {
    if (named.serverId === null && named.siteId === null) return;
    const summary = `who waits on ${namesOf(named)}`;
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

/** Temporal refuses a summary over 400 bytes. */
function namesOf({ serverId, siteId }: Named): string {
  const names = [
    serverId === null ? [] : `server ${plainText(serverId, 40)}`,
    siteId === null ? [] : `site ${plainText(siteId, 40)}`,
  ];
  return names.flat().join(' and ');
}

/** None for a backup nobody here waits for. */
async function serversOf(backupId: string): Promise<string[]> {
  const summary = `which server backup ${plainText(backupId, 60)} is of`;
  return serversOfBackup.executeWithOptions({ summary }, [{ backupId }]).catch(() => []);
}

async function share({ event: { kind, serverId, backupId, at }, receivedAt }: EventInput): Promise<boolean> {
  if (kind !== 'backup.started' || serverId === null || backupId === null) return false;
  const startedAt = at ?? receivedAt;
  const known = await findSharedBackup({ serverId }).catch(() => null);
  // Deliveries may come in any order.
  if (known !== null && known.startedAt > startedAt) return false;
  await shareBackup({ backupId, serverId, startedAt });
  return true;
}

async function withdraw({ event: { serverId, at }, receivedAt }: EventInput, backupId: string): Promise<void> {
  await noteFailedBackup({ backupId, serverId: serverId ?? '', startedAt: at ?? receivedAt });
}

/** @returns the targets that could not be told */
async function tell({ source, verified, receivedAt, event }: EventInput, result: EventResult): Promise<string[]> {
  const id = workflowInfo().workflowId;
  const { told, unheard } = await notifyAll({ about: 'event', id, source, verified, receivedAt, event });
  result.notified = told;
  return unheard;
}
