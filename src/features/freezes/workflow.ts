/**
 * An ad-hoc freeze. Workers read its memo, so the freeze holds from its start, even while no worker runs. This code
 * asks a worker whether it knows what is frozen, ends the freeze, and explains it in the Temporal UI.
 */
import { ApplicationFailure } from '@temporalio/common';
import {
  allHandlersFinished,
  condition,
  defineUpdate,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { usageFailure } from '../../workflows/conclusion.ts';
import { TIMING } from '../../contract/timing.ts';
import { type AdHocFreeze, type FreezeConfirmation, type FreezeScope, SCOPE_KINDS } from './shapes.ts';
import { freezeId } from '../../contract/ids.ts';
import { CONFIRM_UPDATE } from '../../contract/names.ts';
import { isRecord } from '../../contract/plain-object.ts';
import { problemOfId } from '../../request/problems.ts';
import { uiPage } from '../../contract/markdown.ts';
import { confirmFreeze } from '../../workflows/activity-proxies.ts';

const confirmUpdate = defineUpdate<FreezeConfirmation, []>(CONFIRM_UPDATE);

/**
 * @param replaces true if it replaced a freeze in force. Then it stays in force whatever the worker says, as the other
 * one would have.
 */
export async function freeze(input: AdHocFreeze, replaces = false): Promise<void> {
  refuseWrongId(input);
  let confirmation: FreezeConfirmation | null = null;
  let isTold = false;
  setHandler(
    confirmUpdate,
    async () => {
      await condition(() => confirmation !== null);
      isTold = true;
      return confirmation!;
    },
    { description: 'What a worker says of it, once it is in force.' },
  );
  setCurrentDetails(uiPage(`**Frozen** until ${input.until}`));
  const answer = await confirmFreeze(input.scope);
  if (answer.problem === null)
    await sleep(TIMING.freeze.inForceAfterMs, { summary: 'until what was judged before has left' });
  confirmation = answer;
  if (answer.problem !== null && !replaces) {
    await condition(() => isTold, TIMING.freeze.toldWithinMs);
    await condition(allHandlersFinished);
    throw usageFailure(answer.problem);
  }
  const leftMs = Date.parse(input.until) - Date.now();
  if (leftMs > 0) await sleep(leftMs, { summary: 'until it ends' });
  await condition(allHandlersFinished);
  setCurrentDetails(uiPage('It is over.'));
}

/** The UI can start one with any input. */
function refuseWrongId(input: Partial<AdHocFreeze> | null | undefined): void {
  const { scope, until } = input ?? {};
  const isDated = typeof until === 'string' && !Number.isNaN(Date.parse(until));
  if (isDated && isScope(scope) && workflowInfo().workflowId === freezeId(scope)) return;
  throw ApplicationFailure.create({
    type: 'WrongWorkflowId',
    message: 'this is not the id or input of a freeze: use belay freeze',
    nonRetryable: true,
  });
}

const isScope = (scope: unknown): scope is FreezeScope =>
  isRecord(scope) &&
  (scope.kind === 'all' || (SCOPE_KINDS.some((it) => it === scope.kind) && problemOfId(scope.id) === null));
