/** All activities. Their names and payloads are stored in the histories of running workflows. */
import type { DailyDeadline } from '../contract/run.ts';
import type { SlotQuery } from '../contract/activities.ts';
import { createApprovals } from '../features/approvals/approvals.ts';
import { createDeliveries } from './deliveries.ts';
import { createDescribeWorker } from './describe-worker.ts';
import { FACTS, PERMITS } from './features.ts';
import { createGates } from '../features/gates/worker.ts';
import { createSiteChecks } from '../features/site-checks/worker.ts';
import { createFreezes } from '../features/freezes/frozen-parts.ts';
import { firstAfter, slotOf } from '../request/calendar/local-time.ts';
import { createPooledWaits } from './pooled-wait.ts';
import { createReads, singleReads } from './read-status.ts';
import { createTriggers } from './post-trigger.ts';
import type { ActivityDeps } from './deps.ts';

export function createActivities(given: ActivityDeps) {
  const deps = { ...given, served: given.workerInfo };
  const reads = createReads({ ...deps, noteRead: deps.admission.noteRead });
  return {
    ...deps.lookupsAndSignals,
    ...singleReads(reads, deps.clocks),
    ...createPooledWaits(deps.pool, reads),
    ...createTriggers(deps, PERMITS),
    ...createSiteChecks(deps),
    ...createGates(deps),
    ...createFreezes(deps),
    ...createApprovals(deps),
    ...createDeliveries(deps.deliveries),

    describeWorker: createDescribeWorker(deps, FACTS),

    /** A worker takes it when the next run may begin. */
    admitRun: (): Promise<void> => Promise.resolve(),

    /** The instant of a daily deadline, ISO 8601. */
    resolveDeadline: ({ time, timeZone, after }: Required<DailyDeadline>): Promise<string> =>
      Promise.resolve(firstAfter(time, timeZone, after)),

    /** The slot that one firing of a schedule is for. */
    resolveSlot: ({ slot, timeZone, firedAt }: SlotQuery): Promise<string> =>
      Promise.resolve(slotOf(slot, timeZone, firedAt)),
  };
}

export type Activities = ReturnType<typeof createActivities>;
