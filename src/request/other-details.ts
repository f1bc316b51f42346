/** What the pages of the workflows around runs show from their start on. Pure. */
import type { BackupRecord } from '../contract/operation.ts';
import type { EventInput } from '../features/events/shapes.ts';
import type { ScheduledInput } from '../features/schedules/shapes.ts';
import { durationText } from '../contract/duration.ts';
import { factList } from '../contract/markdown.ts';
import { codeSpan } from '../contract/safe-text.ts';
import { detailsPage, firstOf, serviceFact } from './run-details.ts';

/** Describes every firing of a schedule. Temporal stores the details with the schedule, so they name no time. */
export function scheduledStaticDetails({ fleet, schedule, when, timeZone, catchUpMs, start }: ScheduledInput): string {
  return detailsPage(
    `Fired by the schedule ${codeSpan(schedule)} of the fleet ${codeSpan(fleet)}. ` +
      'Starts its run or rollout once for each slot, and ends the way that ends.',
    factList(
      {
        When: `${codeSpan(when)} in ${codeSpan(timeZone)}`,
        Starts: start.type,
        Service: serviceFact(start.input.service),
        'Too late': `it starts nothing if no worker takes it up within ${durationText(catchUpMs)}`,
      },
      start.input.meta,
    ),
    'Stop the schedule: `belay schedule pause`. To stop what it started, open the page of that.',
  );
}

export function eventStaticDetails({
  service,
  source,
  deliveryId,
  verified,
  receivedAt,
  reactions,
}: EventInput): string {
  return detailsPage(
    'Handles one webhook delivery. It decides no outcome: it only lets runs read their status now, holds servers of ' +
      'rollouts, lets runs share a backup, and notifies.',
    factList({
      'Sent by': `${codeSpan(source)}, ${verified ? 'verified' : 'not verified'}`,
      Delivery: codeSpan(deliveryId),
      Received: receivedAt,
      Service: serviceFact(service),
      Reactions: reactions.length === 0 ? 'none' : reactions.join(', '),
    }),
  );
}

/** @param about Markdown that links to the workflow of the notification */
export function notificationStaticDetails(
  about: string,
  channels: readonly string[],
  heartbeat: string | null,
): string {
  return detailsPage(
    `Notifies about ${about}, and retries for up to a day. Nothing waits for it.`,
    factList({
      Channels: channels.length === 0 ? null : firstOf(channels.map((it) => codeSpan(it))),
      Heartbeat: heartbeat === null ? null : codeSpan(heartbeat),
    }),
  );
}

export function recordStaticDetails({ service, backupId, serverId, startedAt }: BackupRecord): string {
  return detailsPage(
    'A record, which ends at once: it lets later runs find this backup, and the server that it belongs to.',
    factList({
      Backup: codeSpan(backupId),
      Server: serverId === '' ? 'unknown' : codeSpan(serverId),
      Service: serviceFact(service),
      'Began at': startedAt,
    }),
  );
}
