/** Telling the notification targets: once per target, repeated by Temporal until it is taken, for a day at most. */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { Notification } from '../../contract/event.ts';

const { describeWorker } = proxyActivities<Activities>({ startToCloseTimeout: '10 seconds' });

const patient = proxyActivities<Activities>({
  startToCloseTimeout: '20 seconds',
  scheduleToCloseTimeout: '1 day',
  retry: { initialInterval: '2 seconds', maximumInterval: '10 minutes' },
});

export interface Told {
  told: string[];
  unheard: string[];
}

/** @param targets default: all that the worker's configuration names */
export async function notifyAll(notification: Notification, targets?: string[]): Promise<Told> {
  const names = targets ?? (await describeWorker()).notify?.targets ?? [];
  const ends = await Promise.all(names.map((target) => tried(patient.notify({ target, notification }))));
  return { told: names.filter((_, index) => ends[index]), unheard: names.filter((_, index) => !ends[index]) };
}

/** @returns whether it was called */
export async function callHeartbeat(name: string): Promise<boolean> {
  return tried(patient.callHeartbeat({ name }));
}

async function tried(attempt: Promise<void>): Promise<boolean> {
  return attempt.then(
    () => true,
    () => false,
  );
}
