/** Messages by which a newer run replaces older ones. Histories store these shapes: add, never rename or remove. */
import type { RunType } from '../../contract/names.ts';
import type { Execution } from '../../contract/operation.ts';
import type { Target } from '../../contract/target.ts';

/** The work of a run, and what decides whether a newer run may replace it. */
export interface RunWork {
  type: RunType;
  /** Null while the service is not known. */
  service: string | null;
  serverId: string | null;
  targets: Target[];
  startedAt: string;
  supersedes: boolean;
  /** True if the run may have sent the request of a deployment. */
  hasBegun: boolean;
}

/** A run that may replace an older one. */
export interface NewerRun extends Execution {
  work: RunWork;
}
