/**
 * An ad-hoc freeze. Workers read its memo, so it holds from its start on, also while no worker runs. This code only ends
 * it, and explains it in the Temporal UI.
 */
import { ApplicationFailure } from '@temporalio/common';
import { setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { AdHocFreeze } from '../../contract/freeze.ts';
import { freezeId } from '../../contract/ids/workflow-ids.ts';
import { uiPage } from '../../contract/wording/markdown.ts';

export async function freeze(input: AdHocFreeze): Promise<void> {
  refuseWrongId(input);
  setCurrentDetails(uiPage(`**Frozen** until ${input.until}`));
  const leftMs = Date.parse(input.until) - Date.now();
  if (leftMs > 0) await sleep(leftMs, { summary: 'until it ends' });
  setCurrentDetails(uiPage('It is over.'));
}

/** The UI can start one with any input. */
function refuseWrongId({ scope, until }: Partial<AdHocFreeze> = {}): void {
  const isDated = typeof until === 'string' && !Number.isNaN(Date.parse(until));
  if (isDated && scope !== undefined && workflowInfo().workflowId === freezeId(scope)) return;
  throw ApplicationFailure.create({
    type: 'WrongWorkflowId',
    message: 'this is not the id or input of a freeze: use belay freeze',
    nonRetryable: true,
  });
}
