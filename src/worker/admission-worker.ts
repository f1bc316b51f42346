/** The part of a worker that lets the runs begin that wait for admission. Their queue is theirs alone. */
import { Worker } from '@temporalio/worker';
import { admissionTaskQueue } from '../contract/names.ts';
import { type SharedParts, SETTINGS, slotsOfAdmission } from './settings.ts';
import type { Rest } from './activity-slots.ts';
import type { Admission } from './admission.ts';

interface AdmissionWorkerOptions extends SharedParts {
  admission: Admission;
  rest: Rest;
}

export function createAdmissionWorker(options: AdmissionWorkerOptions): Promise<Worker> {
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
