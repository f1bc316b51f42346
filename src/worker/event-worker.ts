/** The part of a worker that handles events, on a task queue of its own: no flood of them can delay a POST. */
import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from '../activities/index.ts';
import { eventTaskQueue } from '../contract/names.ts';
import { EVENT_SLOTS, SETTINGS, type SharedParts } from './settings.ts';

interface EventWorkerOptions extends SharedParts, Pick<WorkerOptions, 'workflowBundle' | 'sinks'> {
  slots?: typeof EVENT_SLOTS;
}

export function createEventWorker({ taskQueue, activities, slots = EVENT_SLOTS, ...shared }: EventWorkerOptions) {
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

/** No other ones: a workflow on this queue, whatever its type, must not reach the service. */
const EVENT_ACTIVITIES = new Set<string>([
  ...(['wakeWaiters', 'holdServer', 'findServersOfBackup', 'findSharedBackup', 'writeBackupRecord'] as const),
  ...(['describeWorker', 'sendNotification'] as const),
] satisfies (keyof Activities)[]);

const eventActivities = (all: Activities) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => EVENT_ACTIVITIES.has(name)));
