/** The activities that tell others: channels, heartbeats and the places of reports. */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { NotifyInput } from '../features/notifications/shapes.ts';
import type { ReportAnswer, ReportMessage } from '../features/reports/shapes.ts';
import { TIMING } from '../contract/timing.ts';
import type { Deliveries } from './deps.ts';

const SOON_ATTEMPTS = 30;

export function createDeliveries(deps: Deliveries) {
  return {
    async sendNotification(input: NotifyInput): Promise<void> {
      if (!(await deps.sendNotification(input).catch(later))) throw unknownHere(`channel ${input.channel}`);
    },

    sendReport: (message: ReportMessage): Promise<ReportAnswer> => deps.sendReport(message),

    async callHeartbeat({ name }: { name: string }): Promise<void> {
      if (!(await deps.callHeartbeat(name).catch(later))) throw unknownHere(`heartbeat ${name}`);
    },
  };
}

/** A receiver that asks to wait is not called before, but often enough within the day that a message is repeated. */
function later(error: unknown): never {
  const { retryAfterMs } = error as { retryAfterMs?: number };
  if (retryAfterMs === undefined || !(error instanceof Error)) throw error;
  const nextRetryDelay = Math.min(Math.max(retryAfterMs, TIMING.notify.retryMs), TIMING.notify.maxHoldMs);
  throw ApplicationFailure.create({ type: error.name, message: error.message, nextRetryDelay });
}

/** Another worker may have it, since configurations differ while a change spreads. So the first retries come soon. */
function unknownHere(what: string): ApplicationFailure {
  const message = `this worker has no ${what} in its belay.yaml`;
  const soon = activityInfo().attempt <= SOON_ATTEMPTS ? { nextRetryDelay: TIMING.notify.otherWorkerMs } : {};
  return ApplicationFailure.create({ type: 'NotConfigured', message, ...soon });
}
