/** Tells people: starts the workflow of a notification, or delivers one from an event's own workflow. */
import { ApplicationFailure } from '@temporalio/common';
import type { Outcome } from '../contract/names.ts';
import type { SendNotificationsInput, Notification } from '../features/notifications/shapes.ts';
import type { NotifySettings } from '../contract/activities.ts';
import { detailsPage, factList, listStart } from '../contract/markdown.ts';
import { codeSpan } from '../contract/safe-text.ts';
import { startOnce } from './children.ts';
import { linkToThis } from './ui.ts';
import { describeWorker, notificationDelivery } from './activity-proxies.ts';
import { succeeds } from '../contract/plain-object.ts';

export const notDelivered = (receivers: readonly string[], details: unknown[] = []): ApplicationFailure =>
  ApplicationFailure.create({
    type: 'NotificationFailed',
    message: `not delivered within a day: ${receivers.join(', ')}; check the address and whether the receiver is up`,
    nonRetryable: true,
    details,
  });

interface Announcement {
  notify: NotifySettings | null;
  outcome: Outcome | null;
  notification: SendNotificationsInput['notification'];
  /** Called only if the outcome is `completed`. */
  heartbeat: string | undefined;
  summary: string;
}

/** Starts the workflow under the id of the notification, unless there is nothing to call. */
export async function announce({ notify, outcome, notification, heartbeat, summary }: Announcement): Promise<void> {
  if (notify === null) return;
  const isSuccess = outcome === 'completed';
  const channels = isSuccess && notify.on === 'failed' ? [] : notify.channels;
  const called = isSuccess ? (heartbeat ?? null) : null;
  if (channels.length === 0 && called === null) return;
  await startOnce<SendNotificationsInput>('sendNotifications', {
    workflowId: notification.id,
    staticSummary: summary,
    staticDetails: notificationStaticDetails(linkToThis(), channels, called),
    input: { notification, channels, heartbeat: called },
  });
}

/* Delivers a notification to each channel. Temporal retries each delivery for at most a day. */

export interface DeliveryReport {
  delivered: string[];
  undelivered: string[];
}

/** @param channels default: all channels in the worker's configuration */
export async function deliverAll(notification: Notification, channels?: string[]): Promise<DeliveryReport> {
  const names = channels ?? (await describeWorker()).notify?.channels ?? [];
  const areDelivered = await Promise.all(
    names.map((channel) => succeeds(notificationDelivery.sendNotification({ channel, notification }))),
  );
  return {
    delivered: names.filter((_, index) => areDelivered[index]),
    undelivered: names.filter((_, index) => !areDelivered[index]),
  };
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
      Channels: channels.length === 0 ? null : listStart(channels.map((it) => codeSpan(it))),
      Heartbeat: heartbeat === null ? null : codeSpan(heartbeat),
    }),
  );
}
