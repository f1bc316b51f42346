/** The signal by which a newer run takes the place of an older one. */
import { CancellationScope, defineSignal, getExternalWorkflowHandle, setHandler } from '@temporalio/workflow';
import { ApplicationFailure } from '@temporalio/common';
import { SIGNALS } from '../../contract/names.ts';
import type { NewerRun, SupersededBy } from './shapes.ts';
import { newerRunIn } from './rules.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';

const supersededSignal = defineSignal<[NewerRun]>(SIGNALS.superseded);

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

/** If the older run has ended or cannot take signals, it is left alone. */
export async function signalSuperseded(older: SupersededBy, newer: NewerRun): Promise<void> {
  try {
    await getExternalWorkflowHandle(older.workflowId, older.runId).signal(supersededSignal, newer);
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
  }
}
