/**
 * One delivery of a webhook, under an id that makes a repeated one find its place taken. It wakes whoever waits on
 * what the event names, lets others rest on a backup, and tells the notification targets. Nothing here decides a
 * verdict: the truth is read from the service.
 */
import { ApplicationFailure } from '@temporalio/common';
import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { Claim, EventInput, EventResult, Reaction } from '../../contract/event.ts';
import { notifyAll } from '../notify/deliver.ts';
import { noteFailedBackup, shareBackup } from '../operation/backup-records.ts';
import { eventDetails } from '../common/ui-details.ts';
import { holdServer } from './hold-server.ts';
import { wakeWaiters } from './wake-waiters.ts';

const { findSharedBackup } = proxyActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  scheduleToCloseTimeout: '1 minute',
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

  const waking = wakeWaiters(input.event, claim, (woken) => {
    result.woken = woken;
    show();
  });
  const holding = trusts('hold') ? holdServer(input.event) : null;
  if (trusts('share')) result.shared = await share(input);
  if (claim?.kind === 'backup.failed') await withdraw(input, claim.backupId);
  const unheard = reacts('notify') ? await tell(input, result) : [];
  await waking;
  const held = (await holding) ?? [];
  if (held.length > 0) result.held = held;
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

async function share({ event: { kind, serverId, backupId, at }, receivedAt }: EventInput): Promise<boolean> {
  if (kind !== 'backup.started' || serverId === null || backupId === null) return false;
  const startedAt = notAfter(receivedAt, at);
  const known = await findSharedBackup({ serverId }).catch(() => null);
  // Deliveries may come in any order.
  if (known !== null && known.startedAt > startedAt) return false;
  return shareBackup({ backupId, serverId, startedAt });
}

/** Nothing has begun that is told of before it has, whatever a sender's clock says. */
function notAfter(receivedAt: string, at: string | null): string {
  return at === null || at > receivedAt ? receivedAt : at;
}

async function withdraw({ event: { serverId, at }, receivedAt }: EventInput, backupId: string): Promise<void> {
  await noteFailedBackup({ backupId, serverId: serverId ?? '', startedAt: notAfter(receivedAt, at) });
}

/** @returns the targets that could not be told */
async function tell({ source, verified, receivedAt, event }: EventInput, result: EventResult): Promise<string[]> {
  const id = workflowInfo().workflowId;
  const { told, unheard } = await notifyAll({ about: 'event', id, source, verified, receivedAt, event });
  result.notified = told;
  return unheard;
}
