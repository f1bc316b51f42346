/** Sends notifications in a workflow of its own, so that no outcome or lock waits for a chat service that is down. */
import { isRecord } from '../../contract/plain-object.ts';
import { isText, isTextOrNull } from '../../request/problems.ts';
import { notificationDelivery } from '../../workflows/activity-proxies.ts';
import { deliverAll, notDelivered } from '../../workflows/announce.ts';
import { succeeds } from '../../contract/plain-object.ts';
import { usageFailure } from '../../workflows/conclusion.ts';
import type { Notification, SendNotificationsInput } from './shapes.ts';

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

/** The UI can start this with any input: an error here would be retried for ever. */
function refuseOtherInput(input: Partial<SendNotificationsInput> | null | undefined): void {
  const { notification, channels, heartbeat } = input ?? {};
  const isKnown = isRecord(notification) && KINDS.some((it) => it === notification.kind);
  if (isKnown && Array.isArray(channels) && channels.every(isText) && isTextOrNull(heartbeat)) return;
  throw usageFailure('this is not a notification: a run, a rollout or an event starts this workflow');
}

const KINDS: readonly string[] = ['event', 'run', 'approval', 'rollout'] satisfies Notification['kind'][];
