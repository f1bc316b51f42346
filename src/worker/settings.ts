/** The measured settings of a worker. */
import { getHeapStatistics } from 'node:v8';
import type { TunerHolder, WorkerOptions } from '@temporalio/worker';
import type { Activities } from '../activities/index.ts';
import { TIMING } from '../contract/timing.ts';
import type { Admission } from './admission.ts';
import { activitySlots, admissionSlots, workflowSlots, type PollingRest } from './slots.ts';

export interface SharedParts extends Pick<
  WorkerOptions,
  'connection' | 'namespace' | 'identity' | 'dataConverter' | 'workerDeploymentOptions' | 'interceptors'
> {
  taskQueue: string;
  activities: Activities;
}

/** A cached workflow takes 0.35 to 0.55 MB. The rest of the heap is for long histories and everything else. */
const MB_PER_CACHED_WORKFLOW = 0.85;
const MB_OF_WORKER = 200;
const LEAST_CACHED_WORKFLOWS = 50;

function cachedWorkflows(heapMb: number): number {
  return Math.max(LEAST_CACHED_WORKFLOWS, Math.floor((heapMb - MB_OF_WORKER) / MB_PER_CACHED_WORKFLOW));
}

/** The figures behind these settings are in docs/explanation/measurements.md. */
export const SETTINGS = {
  // A workflow outside the cache replays its history for every read. The SDK would cache half as many.
  maxCachedWorkflows: cachedWorkflows(getHeapStatistics().heap_size_limit / 2 ** 20),
  // Tasks on the sticky queue of a killed worker are stuck for this long.
  stickyQueueScheduleToStartTimeout: TIMING.worker.stickyQueueMs,
  // A task with thousands of signals takes seconds. Past this limit the SDK ends the whole process.
  isolateExecutionTimeout: '1 minute',
  // A POST in progress can finish: 8 s for the answer, then the time to record it.
  shutdownGraceTime: TIMING.worker.shutdownGraceMs,
  // A process whose worker only waits for an activity that never ends does no work, and no supervisor starts it again.
  shutdownForceTime: TIMING.worker.shutdownForceMs,
  // By default the SDK sends a heartbeat only after 80 % of the timeout, so one late heartbeat would end a POST.
  maxHeartbeatThrottleInterval: TIMING.post.heartbeatMs,
} as const;

const SLOTS = {
  workflowTask: 250,
  // A replay of thousands of events takes seconds of a processor, and its task has five.
  uncachedWorkflowTask: 8,
  // A hanging read occupies a slot for up to 15 s, and triggers need slots, too.
  activity: 1_000,
  // A pooled wait is idle most of the time.
  pooledWait: 20_000,
} as const;

const ONE = { type: 'fixed-size', numSlots: 1 } as const;

const activitiesOnly = (activityTaskSlotSupplier: TunerHolder['activityTaskSlotSupplier']): TunerHolder => ({
  workflowTaskSlotSupplier: ONE,
  localActivityTaskSlotSupplier: ONE,
  activityTaskSlotSupplier,
  nexusTaskSlotSupplier: ONE,
});

export const slots = (rest: PollingRest): TunerHolder => ({
  ...activitiesOnly(activitySlots(SLOTS.activity, rest)),
  workflowTaskSlotSupplier: workflowSlots(SLOTS.workflowTask, SLOTS.uncachedWorkflowTask),
});

export const slotsOfAdmission = (admission: Admission, rest: PollingRest): TunerHolder =>
  activitiesOnly(admissionSlots(admission, rest));

export const slotsOfPool = (rest: PollingRest): TunerHolder => activitiesOnly(activitySlots(SLOTS.pooledWait, rest));

/** These are few, so that the runs of the same process keep their share of the processor and of Temporal. */
export const EVENT_SLOTS = { workflowTasks: 20, activities: 50, cachedWorkflows: 200 };
