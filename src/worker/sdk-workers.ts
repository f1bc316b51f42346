/** The SDK workers that make up a worker of Belay, one for each queue. */
import { hostname } from 'node:os';
import { Worker, type WorkerOptions } from '@temporalio/worker';
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
  { taskQueue, activities, ...parts }: SharedParts,
  ofWorkflows: Pick<WorkerOptions, 'workflowBundle' | 'sinks'>,
  { admission, rest, eventSlots = EVENT_SLOTS }: Own,
): Promise<Worker[]> {
  const { admitRun, pollWhileInProgress } = activities;
  const create = (own: WorkerOptions) => Worker.create({ ...SETTINGS, ...parts, ...own });
  return [
    await create({ ...ofWorkflows, taskQueue, activities, tuner: slots(rest) }),
    // Events have a task queue of their own, so that no flood of them can delay a POST.
    await create({
      ...ofWorkflows,
      taskQueue: eventTaskQueue(taskQueue),
      activities: eventActivities(activities),
      maxCachedWorkflows: eventSlots.cachedWorkflows,
      maxConcurrentWorkflowTaskExecutions: eventSlots.workflowTasks,
      maxConcurrentWorkflowTaskPolls: Math.min(eventSlots.workflowTasks, MAX_POLLS),
      maxConcurrentActivityTaskExecutions: eventSlots.activities,
      maxConcurrentActivityTaskPolls: Math.min(eventSlots.activities, MAX_POLLS),
    }),
    await create({
      taskQueue: admissionTaskQueue(taskQueue),
      activities: { admitRun },
      tuner: slotsOfAdmission(admission, rest),
      maxConcurrentActivityTaskPolls: 1,
    }),
    // Each pooled wait holds its slot for minutes.
    await create({
      taskQueue: waitTaskQueue(taskQueue),
      activities: { pollWhileInProgress },
      tuner: slotsOfPool(rest),
    }),
  ];
}

const MAX_POLLS = 5;

/** No other activities may run here: a workflow on this queue, whatever its type, must not reach the service. */
const EVENT_ACTIVITIES = new Set<string>([
  ...(['wakeWaiters', 'holdServer', 'findServersOfBackup', 'findSharedBackup', 'writeBackupRecord'] as const),
  ...(['describeWorker', 'sendNotification'] as const),
] satisfies (keyof Activities)[]);

const eventActivities = (all: Activities) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => EVENT_ACTIVITIES.has(name)));

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
