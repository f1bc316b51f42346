/** The options of a versioned worker: Temporal sends it the runs of its build, and new ones once that is current. */
import type { WorkerOptions } from '@temporalio/worker';
import type { WorkerVersion } from '../contract/worker-version.ts';

/** @param version null: the worker is not versioned */
export function versioning(version: WorkerVersion | null): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (version === null) return {};
  // Each workflow states its own behavior; the SDK asks for a default all the same.
  return { workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' } };
}
