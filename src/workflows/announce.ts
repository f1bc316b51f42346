/** Sends notifications in a workflow of its own, so that no outcome or lock waits for a chat service that is down. */
import { ApplicationFailure } from '@temporalio/common';
import { usageFailure } from './conclusion.ts';
import type { Outcome } from '../contract/names.ts';
import { isRecord } from '../contract/plain-object.ts';
import type { SendNotificationsInput, Notification } from '../features/notifications/shapes.ts';
import type { NotifySettings } from '../contract/activities.ts';
import { detailsPage, factList, listStart } from '../contract/markdown.ts';
import { codeSpan } from '../contract/safe-text.ts';
import { isText, isTextOrNull } from '../request/problems.ts';
import { startOnce } from './children.ts';
import { linkToThis } from './ui.ts';
import { describeWorker, notificationDelivery } from './activity-proxies.ts';

export async function sendNotifications(input: SendNotificationsInput): Promise<string[]> {
  refuseOtherInput(input);
  const { notification, channels, heartbeat } = input;
  const [called, { delivered, undelivered }] = await Promise.all([
    heartbeat === null ? true : succeeds(notificationDelivery.callHeartbeat({ name: heartbeat })),
    deliverAll(notification, channels),
  ]);
  const missed = [...undelivered, ...(called ? [] : [`heartbeat ${heartbeat}`])];
  if (missed.length === 0) return delivered;
  throw notDelivered(missed);
}

export const notDelivered = (receivers: readonly string[], details: unknown[] = []): ApplicationFailure =>
  ApplicationFailure.create({
    type: 'NotificationFailed',
    message: `not delivered within a day: ${receivers.join(', ')}; check the address and whether the receiver is up`,
    nonRetryable: true,
    details,
  });

/** The UI can start this with any input: an error here would be retried for ever. */
function refuseOtherInput(input: Partial<SendNotificationsInput> | null | undefined): void {
  const { notification, channels, heartbeat } = input ?? {};
  const isKnown = isRecord(notification) && KINDS.some((it) => it === notification.kind);
  if (isKnown && Array.isArray(channels) && channels.every(isText) && isTextOrNull(heartbeat)) return;
  throw usageFailure('this is not a notification: a run, a rollout or an event starts this workflow');
}

const KINDS: readonly string[] = ['event', 'run', 'approval', 'rollout'] satisfies Notification['kind'][];

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

const succeeds = (attempt: Promise<void>): Promise<boolean> =>
  attempt.then(
    () => true,
    () => false,
  );

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
