/**
 * Handles one webhook delivery. The workflow id is made from the delivery, so Temporal rejects a repeated one.
 * The workflow wakes runs and operations that wait for what the event names, lets runs share a backup, and sends
 * notifications. It decides no outcome: runs and operations read the status from the service.
 */
import { ApplicationFailure } from '@temporalio/common';
import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { Claim, EventInput, EventResult, Reaction } from './shapes.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { identitiesOf, isServed, type ServedService } from '../../contract/service-identity.ts';
import { deliverAll } from '../notifications/deliver.ts';
import { recordReported } from '../../workflows/operation/backup-records.ts';
import { eventDetails } from './event-details.ts';
import { holdServer } from './hold-server.ts';
import { wakeWaitersOf } from './wake-waiters.ts';
import { describeWorker, findSharedBackup } from '../../workflows/activity-proxies.ts';

export async function handleEvent(input: EventInput): Promise<EventResult> {
  refuseOtherInput(input);
  const served = await describeWorker();
  const isOther = input.service !== undefined && !isServed(input.service, served);
  const isFresh = isFreshNow(input);
  const result: EventResult = {
    woken: [],
    shared: false,
    notified: [],
    ...(isFresh ? {} : { late: true }),
    ...(isOther ? { otherThan: served.service } : {}),
  };
  const show = () => setCurrentDetails(eventDetails(input, result));
  show();
  const reacts = (reaction: Reaction) => input.reactions.includes(reaction);
  // An unverified event may only wake waiters and send notifications.
  const trusts = (reaction: Reaction) => input.verified && !isOther && reacts(reaction);
  const claim = trusts('end-wait') ? claimOf(input) : null;

  const services = identitiesOf(served);
  const waking =
    isFresh && !isOther
      ? wakeWaitersOf(input.event, { claim, services }, (woken) => {
          result.woken = woken;
          show();
        })
      : null;
  const holding = isFresh && trusts('hold') ? holdServer(input.event, services) : null;
  const sharing = isFresh && trusts('share') ? share(input, served) : null;
  const withdrawing = claim?.kind === 'backup.failed' ? withdraw(input, claim.backupId, served) : null;
  const undelivered = reacts('notify') ? await notify(input, result) : [];
  await waking;
  await withdrawing;
  if (sharing !== null) result.shared = await sharing;
  const held = (await holding) ?? [];
  if (held.length > 0) result.held = held;
  show();
  if (undelivered.length === 0) return result;
  throw ApplicationFailure.create({
    type: 'NotificationFailed',
    message: `not delivered within a day: ${undelivered.join(', ')}; check the address and whether the receiver is up`,
    nonRetryable: true,
    details: [result],
  });
}

/** The UI can start workflows with any input. Without this check Temporal would retry a failing workflow task forever. */
function refuseOtherInput(input: Partial<EventInput> | undefined): void {
  const { event, reactions, freshForMs } = input ?? {};
  const names = [event?.serverId, event?.siteId, event?.backupId];
  const isEvent = names.every((id) => id === null || typeof id === 'string') && typeof event?.kind === 'string';
  if (isEvent && Array.isArray(reactions) && typeof freshForMs === 'number') return;
  const message = 'this is not an event: only the webhook receiver starts this workflow';
  throw ApplicationFailure.create({ type: 'Usage', message, nonRetryable: true });
}

/** By Temporal's own clock: the receiver's may differ. */
function isFreshNow({ freshForMs }: EventInput): boolean {
  return Date.now() - workflowInfo().startTime.getTime() < freshForMs;
}

function claimOf({ event: { kind, backupId, siteId } }: EventInput): Claim | null {
  const event = workflowInfo().workflowId;
  if (kind === 'backup.failed' && backupId !== null) return { kind, backupId, event };
  if (kind === 'resource.deleted' && siteId !== null) return { kind, siteId, event };
  return null;
}

async function share(
  { event: { kind, serverId, backupId, at }, receivedAt }: EventInput,
  served: ServedService,
): Promise<boolean> {
  if (kind !== 'backup.started' || serverId === null || backupId === null) return false;
  const startedAt = notAfter(receivedAt, at);
  const known = await findSharedBackup({ serverId, services: identitiesOf(served) }).catch(() => null);
  // Deliveries may arrive in any order.
  if (known !== null && known.startedAt > startedAt) return false;
  return recordReported('shared', { service: served.service, backupId, serverId, startedAt });
}

/** A backup cannot have started after its event was received, whatever the sender's clock shows. */
function notAfter(receivedAt: string, at: string | null): string {
  return at === null || at > receivedAt ? receivedAt : at;
}

async function withdraw(
  { event: { serverId, at }, receivedAt }: EventInput,
  backupId: string,
  { service }: ServedService,
): Promise<void> {
  await recordReported('failed', { service, backupId, serverId: serverId ?? '', startedAt: notAfter(receivedAt, at) });
}

/** @returns the channels that could not be notified */
async function notify({ source, verified, receivedAt, event }: EventInput, result: EventResult): Promise<string[]> {
  const id = workflowInfo().workflowId;
  const { delivered, undelivered } = await deliverAll({
    kind: 'event',
    id,
    source,
    verified,
    receivedAt,
    event,
    ...definedFields({ late: result.late, otherThan: result.otherThan }),
  });
  result.notified = delivered;
  return undelivered;
}
