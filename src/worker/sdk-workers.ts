/** The SDK workers that make up a worker of Belay, one for each queue. */
import { hostname } from 'node:os';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { definedFields } from '../contract/plain-object.ts';
import type { Admission } from './admission.ts';
import type { PollingRest } from './slots.ts';
import { SETTINGS, slots, EVENT_SLOTS, type SharedParts, slotsOfPool, slotsOfAdmission } from './settings.ts';
import type { Activities } from '../activities/index.ts';
import { eventTaskQueue, waitTaskQueue, admissionTaskQueue } from '../contract/names.ts';
import { identityText, type WorkerVersion } from '../contract/worker-identity.ts';
import { VERSION } from '../process/version.ts';

interface Own {
  admission: Admission;
  rest: PollingRest;
  eventSlots?: typeof EVENT_SLOTS | undefined;
}

export async function createWorkers(
  parts: SharedParts,
  ofWorkflows: Pick<WorkerOptions, 'workflowBundle' | 'sinks'>,
  { admission, rest, eventSlots }: Own,
): Promise<Worker[]> {
  const shared = { ...parts, ...ofWorkflows };
  return [
    await Worker.create({ ...SETTINGS, tuner: slots(rest), ...shared }),
    await createEventWorker({ ...shared, ...definedFields({ slots: eventSlots }) }),
    await createAdmissionWorker({ ...parts, admission, rest }),
    await createPoolWorker({ ...parts, rest }),
  ];
}

/* The part of a worker that handles events. It has its own task queue, so that no flood of events can delay a POST. */

interface EventWorkerOptions extends SharedParts, Pick<WorkerOptions, 'workflowBundle' | 'sinks'> {
  slots?: typeof EVENT_SLOTS;
}

function createEventWorker({ taskQueue, activities, slots = EVENT_SLOTS, ...shared }: EventWorkerOptions) {
  return Worker.create({
    ...SETTINGS,
    ...shared,
    taskQueue: eventTaskQueue(taskQueue),
    activities: eventActivities(activities),
    maxCachedWorkflows: slots.cachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: slots.workflowTasks,
    maxConcurrentWorkflowTaskPolls: Math.min(slots.workflowTasks, MAX_POLLS),
    maxConcurrentActivityTaskExecutions: slots.activities,
    maxConcurrentActivityTaskPolls: Math.min(slots.activities, MAX_POLLS),
  });
}

const MAX_POLLS = 5;

/** No other activities may run here: a workflow on this queue, whatever its type, must not reach the service. */
const EVENT_ACTIVITIES = new Set<string>([
  ...(['wakeWaiters', 'holdServer', 'findServersOfBackup', 'findSharedBackup', 'writeBackupRecord'] as const),
  ...(['describeWorker', 'sendNotification'] as const),
] satisfies (keyof Activities)[]);

const eventActivities = (all: Activities) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => EVENT_ACTIVITIES.has(name)));

/*
 * The part of a worker that makes pooled waits. Each wait holds its slot for minutes, so pooled waits have their own
 * queue.
 */

interface PoolWorkerOptions extends SharedParts {
  rest: PollingRest;
}

function createPoolWorker(options: PoolWorkerOptions): Promise<Worker> {
  const {
    taskQueue,
    activities: { pollWhileInProgress },
    rest,
    ...shared
  } = options;
  return Worker.create({
    ...SETTINGS,
    ...shared,
    taskQueue: waitTaskQueue(taskQueue),
    activities: { pollWhileInProgress },
    tuner: slotsOfPool(rest),
  });
}

/* The part of a worker that admits waiting runs. They have their own queue. */

interface AdmissionWorkerOptions extends SharedParts {
  admission: Admission;
  rest: PollingRest;
}

function createAdmissionWorker(options: AdmissionWorkerOptions): Promise<Worker> {
  const { taskQueue, activities, admission, rest, ...shared } = options;
  return Worker.create({
    ...SETTINGS,
    ...shared,
    taskQueue: admissionTaskQueue(taskQueue),
    activities: { admitRun: activities.admitRun },
    tuner: slotsOfAdmission(admission, rest),
    maxConcurrentActivityTaskPolls: 1,
  });
}

let lastMs = 0;

/** @returns an identity that no other worker has, not even one in this process */
export function newIdentity(service: string, epoch: string, encrypts = false): string {
  // Workers of one process differ only in their start time.
  lastMs = Math.max(Date.now(), lastMs + 1);
  return identityText({
    version: VERSION,
    where: `${hostname()}:${process.pid}`,
    service,
    since: new Date(lastMs).toISOString(),
    epoch,
    encrypts,
  });
}

/*
 * The options of a versioned worker. Temporal sends it the runs of its build, and new runs once that build is current.
 */

/** @param version null if the worker is not versioned */
export function versioning(version: WorkerVersion | null): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (version === null) return {};
  // Each workflow states its own behavior, but the SDK still requires a default.
  return { workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' } };
}
