/** What lets a newer run take the place of older ones. Stored in histories: add, never rename or remove. */
import type { RunType } from '../../contract/names.ts';
import type { Target } from '../../contract/target.ts';

/** What a run is to do, and what decides whether a newer one may replace it. */
export interface RunWork {
  type: RunType;
  /** Null while it is not known. */
  service: string | null;
  serverId: string | null;
  targets: Target[];
  startedAt: string;
  /** Whether it replaces older runs. */
  supersedes: boolean;
  /** Whether it may have sent the request of a deployment. */
  hasBegun: boolean;
}

/** A run that may take the place of an older one. */
export interface NewerRun {
  workflowId: string;
  runId: string;
  work: RunWork;
}

/** The run that took the place of another one. */
export type SupersededBy = Pick<NewerRun, 'workflowId' | 'runId'>;
