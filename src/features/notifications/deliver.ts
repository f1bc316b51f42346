/** Delivers a notification to each channel. Temporal retries each delivery for at most a day. */
import { describeWorker, notificationDelivery } from '../../workflows/activity-proxies.ts';
import type { Notification } from './shapes.ts';

export interface DeliveryReport {
  delivered: string[];
  undelivered: string[];
}

/** @param channels default: all channels in the worker's configuration */
export async function deliverAll(notification: Notification, channels?: string[]): Promise<DeliveryReport> {
  const names = channels ?? (await describeWorker()).notify?.channels ?? [];
  const delivered = await Promise.all(
    names.map((channel) => succeeds(notificationDelivery.sendNotification({ channel, notification }))),
  );
  return {
    delivered: names.filter((_, index) => delivered[index]),
    undelivered: names.filter((_, index) => !delivered[index]),
  };
}

/** @returns whether it was called */
export async function callHeartbeat(name: string): Promise<boolean> {
  return succeeds(notificationDelivery.callHeartbeat({ name }));
}

async function succeeds(attempt: Promise<void>): Promise<boolean> {
  return attempt.then(
    () => true,
    () => false,
  );
}
