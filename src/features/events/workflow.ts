/**
 * Handles one webhook delivery. The workflow id comes from the delivery, so Temporal rejects a repeated one. The
 * workflow wakes runs and operations that wait for what the event names, shares a backup between runs, and sends
 * notifications. It decides no outcome: runs and operations read the status from the service.
 */
import { setCurrentDetails, workflowInfo, sleep } from '@temporalio/workflow';
import {
  type EventInput,
  type EventResult,
  type Reaction,
  type ServiceEvent,
  type WakeInput,
  eventSubjects,
} from './shapes.ts';
import { usageFailure } from '../../workflows/conclusion.ts';
import { definedFields, succeeds } from '../../contract/plain-object.ts';
import type { BackupRecord } from '../../contract/operation.ts';
import type { Claim } from '../../contract/polling.ts';
import { identitiesOf, isServed, type ServedService } from '../../contract/service-identity.ts';
import { deliverAll, notDelivered } from '../../workflows/announce.ts';
import {
  describeWorker,
  findSharedBackup,
  signalRollouts,
  findServersOfBackup,
  signalWaiters,
  writeBackupRecord,
} from '../../workflows/activity-proxies.ts';
import { isText, isTextOrNull, problemOfId } from '../../request/problems.ts';
import { plainText, codeSpan } from '../../contract/safe-text.ts';
import { TIMING } from '../../contract/timing.ts';
import { factList, uiPage, workflowLink } from '../../contract/markdown.ts';

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
  const holding = isFresh && trusts('hold') ? holdServer(input.event, services) : [];
  const sharing = isFresh && trusts('share') ? share(input, served) : false;
  const withdrawing = claim?.kind === 'backup.failed' ? withdraw(input, claim.backupId, served) : null;
  const notifying = reacts('notify') ? notify(input, result) : [];
  // Awaits all together. A cancellation makes each of them fail, and Temporal would retry the task for an error that
  // nothing awaits.
  const [undelivered, isShared, held] = await Promise.all([notifying, sharing, holding, waking, withdrawing]);
  result.shared = isShared;
  if (held.length > 0) result.held = held;
  show();
  if (undelivered.length === 0) return result;
  throw notDelivered(undelivered, [result]);
}

/**
 * The UI can start workflows with any input. Without this check, Temporal would retry a failing workflow task forever.
 */
function refuseOtherInput(input: Partial<EventInput> | null | undefined): void {
  const { event, reactions, freshForMs, source, receivedAt } = input ?? {};
  const texts = [event?.kind, source, receivedAt];
  const maybe = [event?.rawKind, event?.at];
  const ids = [event?.serverId, event?.siteId, event?.backupId];
  const areIds = ids.every((it) => it === null || problemOfId(it) === null);
  const isEvent = areIds && texts.every(isText) && maybe.every(isTextOrNull);
  if (isEvent && Array.isArray(reactions) && typeof freshForMs === 'number') return;
  throw usageFailure('this is not an event: only the webhook receiver starts this workflow');
}

/** Uses Temporal's clock, because the receiver's may differ. */
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
  if (known !== null && (known.reportedAt ?? known.startedAt) > startedAt) return false;
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

/**
 * A backup has begun by the time at which this workflow begins, by Temporal's clock, from which its age counts. That of
 * the receiver may be ahead. @returns whether it was recorded
 */
const recordReported = (kind: 'shared' | 'failed', record: BackupRecord): Promise<boolean> => {
  const startedAt = notAfter(workflowInfo().startTime.toISOString(), record.startedAt);
  const reported = startedAt === record.startedAt ? {} : { reportedAt: record.startedAt };
  return succeeds(writeBackupRecord({ kind, record: { ...record, startedAt, ...reported } }));
};

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

/* Makes the rollouts in flight hold a server. The search for rollouts lags, so it runs twice. */

/** @returns the workflow ids of the rollouts that were signalled */
async function holdServer({ kind, serverId, siteId, backupId }: ServiceEvent, services: string[]): Promise<string[]> {
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

/* Wakes the workflows that wait for what an event names. It finds them by lock id, by backup record and by search. */

type Named = Pick<WakeInput, 'serverId' | 'siteId'>;

/** @param onWoken called with all workflow ids so far, whenever there are more */
async function wakeWaitersOf(
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

/** Empty if no run here waits for the backup. */
async function serversOf(backupId: string, services: string[]): Promise<string[]> {
  const summary = `find the server of backup ${plainText(backupId, 60)}`;
  return findServersOfBackup.executeWithOptions({ summary }, [{ backupId, services }]).catch(() => []);
}

function eventDetails({ event, source, verified }: EventInput, result: EventResult): string {
  const ids = eventSubjects(event, codeSpan);
  const { woken, held = [], notified, otherThan } = result;
  return uiPage(
    `**${event.kind}** from ${codeSpan(source)}${verified ? '' : ', not verified'}`,
    factList({
      'Kind as sent': event.rawKind === null ? null : codeSpan(event.rawKind),
      Names: ids.length === 0 ? 'no server, site or backup' : ids.join(', '),
      'Of another service':
        otherThan === undefined ? null : `the workers serve ${codeSpan(otherThan)}, so it has no effect`,
      'Too late': result.late === true ? 'it wakes, holds and shares nothing' : null,
      'Woken to read now': linksTo(woken),
      'Rollouts that hold this server': linksTo(held),
      Shared: result.shared ? 'the next run that needs a backup of this server may use this one' : null,
      Notified: notified.length === 0 ? null : notified.map((it) => codeSpan(it)).join(', '),
    }),
  );
}

const linksTo = (ids: readonly string[]): string | null =>
  ids.length === 0 ? null : ids.map((id) => workflowLink(id)).join(', ');
