/** The workers of the SDK that make up a worker of Belay, one for each queue. */
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { definedFields } from '../contract/plain-object.ts';
import type { Admission } from './admission.ts';
import type { Rest } from './activity-slots.ts';
import { createAdmissionWorker } from './admission-worker.ts';
import { createEventWorker } from './event-worker.ts';
import { createPoolWorker } from './pool-worker.ts';
import { SETTINGS, slots, type EVENT_SLOTS, type SharedParts } from './settings.ts';

interface Own {
  admission: Admission;
  rest: Rest;
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
