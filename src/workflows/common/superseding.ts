/** Superseding ends a run or an operation where a cancellation would, with another reason, and only before it begins. */
import { CancellationScope, defineSignal, getExternalWorkflowHandle, setHandler } from '@temporalio/workflow';
import { ApplicationFailure } from '@temporalio/common';
import { SIGNALS } from '../../contract/names.ts';
import type { NewerRun, SupersededBy } from '../../contract/superseding.ts';
import { newerRunIn } from '../../rules/superseding-message.ts';
import type { Cancellation } from './cancellation.ts';
import { conclude, type Conclusion } from './conclusion.ts';

const supersededSignal = defineSignal<[NewerRun]>(SIGNALS.superseded);

export interface Superseding extends Cancellation {
  /** The run that took its place; null if it goes on. */
  readonly by: SupersededBy | null;
  readonly hasBegun: boolean;
  supersede(by: SupersededBy): void;
  /** From now on, no run takes its place. */
  begin(): void;
}

export function observeSuperseding(cancellation: Cancellation): Superseding {
  let by: SupersededBy | null = null;
  let hasBegun = false;
  let resolve: () => void;
  const superseded = new Promise<void>((it) => (resolve = it));
  return {
    get requested() {
      return by !== null || cancellation.requested;
    },
    whenRequested: Promise.race([cancellation.whenRequested, superseded]),
    get by() {
      return by;
    },
    get hasBegun() {
      return hasBegun;
    },
    supersede({ workflowId, runId }) {
      if (hasBegun || by !== null || cancellation.requested) return;
      by = { workflowId, runId };
      resolve();
    },
    begin: () => (hasBegun = true),
  };
}

export const concludeSuperseded = ({ workflowId }: SupersededBy): Conclusion =>
  conclude('not_started', 'Superseded', `replaced by a newer run before it began: ${workflowId}`);

export function onNewerRun(handle: (newer: NewerRun) => Promise<void>): void {
  setHandler(
    supersededSignal,
    async (message) => {
      const newer = newerRunIn(message);
      if (newer !== null) await CancellationScope.nonCancellable(() => handle(newer));
    },
    { description: 'A newer run covers this one, and takes its place if it has not begun.' },
  );
}

/** One that is gone, or whose history is full, goes on. */
export async function signalSuperseded(older: SupersededBy, newer: NewerRun): Promise<void> {
  try {
    await getExternalWorkflowHandle(older.workflowId, older.runId).signal(supersededSignal, newer);
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
  }
}
