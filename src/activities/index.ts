/** All activities. The histories of running workflows store their names and payloads. */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { DailyDeadline } from '../contract/run.ts';
import type { SlotQuery } from '../contract/activities.ts';
import { createDescribeWorker } from './fact.ts';
import { FACTS, featureActivities, PERMITS } from './features.ts';
import { firstAfter, slotOf } from '../request/calendar/local-time.ts';
import { createPooledWaits } from './pooled-wait.ts';
import { createReads, singleReads } from './read-status.ts';
import { createTriggers } from './post-trigger.ts';
import type { ActivityDeps, Deliveries } from './deps.ts';
import type { NotifyInput } from '../features/notifications/shapes.ts';
import { TIMING } from '../contract/timing.ts';

export function createActivities(deps: ActivityDeps) {
  const reads = createReads(deps);
  return {
    ...deps.lookupsAndSignals,
    ...singleReads(reads, deps.clocks),
    ...createPooledWaits(deps.pool, reads),
    ...createTriggers(deps, PERMITS),
    ...featureActivities(deps),
    ...createDeliveries(deps.deliveries),

    describeWorker: createDescribeWorker(deps, FACTS),

    /** A worker takes this activity when the next run may begin. */
    admitRun: (): Promise<void> => Promise.resolve(),

    resolveDeadline: ({ time, timeZone, after }: Required<DailyDeadline>): Promise<string> =>
      Promise.resolve(firstAfter(time, timeZone, after)),

    resolveSlot: ({ slot, timeZone, firedAt }: SlotQuery): Promise<string> =>
      Promise.resolve(slotOf(slot, timeZone, firedAt)),
  };
}

export type Activities = ReturnType<typeof createActivities>;

/* The activities that send messages: to channels, to heartbeats and to the places of reports. */

const SOON_ATTEMPTS = 30;

const createDeliveries = ({ sendNotification, sendReport, callHeartbeat }: Deliveries) => ({
  sendReport,
  sendNotification: (input: NotifyInput) => taken(sendNotification(input), `channel ${input.channel}`),
  callHeartbeat: ({ name }: { name: string }) => taken(callHeartbeat(name), `heartbeat ${name}`),
});

async function taken(isKnown: Promise<boolean>, what: string): Promise<void> {
  if (!(await isKnown.catch(askLater))) throw unknownHere(what);
}

/** Honors the pause that a receiver asks for, but repeats the message several times within the day. */
function askLater(error: unknown): never {
  const { retryAfterMs } = error as { retryAfterMs?: number };
  if (retryAfterMs === undefined || !(error instanceof Error)) throw error;
  const nextRetryDelay = Math.min(Math.max(retryAfterMs, TIMING.notify.retryMs), TIMING.notify.maxPauseMs);
  throw ApplicationFailure.create({ type: error.name, message: error.message, nextRetryDelay });
}

/**
 * Configurations differ while a change spreads, so another worker may have the receiver. The first retries therefore
 * come soon.
 */
function unknownHere(what: string): ApplicationFailure {
  const message = `this worker has no ${what} in its belay.yaml`;
  const soon = activityInfo().attempt <= SOON_ATTEMPTS ? { nextRetryDelay: TIMING.notify.otherWorkerMs } : {};
  return ApplicationFailure.create({ type: 'NotConfigured', message, ...soon });
}
