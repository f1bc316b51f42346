/**
 * What both operations share: each is a child of a run, its id is the lock, and it takes queries and hints. However it
 * ends, it passes its lock queue on.
 */
import { ApplicationFailure } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  defineQuery,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { QUERIES } from '../../contract/names.ts';
import type { BackupResult, DeploymentResult } from '../../contract/run.ts';
import type { OperationInput, OperationPhase, OperationProgress } from '../../contract/operation.ts';
import type { Claim } from '../../contract/polling.ts';
import { explainOperation } from '../../contract/explain-wait.ts';
import { setAttributes, answerWhyQuery } from '../ui.ts';
import { observeCancellation, observeEnding, type Ending } from '../cancellation.ts';
import { concludeInternal, conclude, endWith, resultOrFailure, type Conclusion } from '../conclusion.ts';
import { countOperation } from '../metrics.ts';
import type { OperationHooks } from './hooks.ts';
import { keepHints } from '../polling/hints.ts';
import { openLockQueue } from '../lock/release.ts';
import { unlessReset } from '../reset.ts';
import { createPoller, type Polled, type Poller } from '../polling/poller.ts';

const progressQuery = defineQuery<OperationProgress>(QUERIES.progress);

export interface Operation<R extends Polled = Polled> extends Poller<R> {
  /** @param trigger the result of the last POST */
  setPhase(phase: OperationPhase, trigger?: string): void;
  readonly cancellation: Ending;
}

const RUN_WAS_RESET = conclude(
  'unknown',
  'OutcomeUnknown',
  'the run was reset and may have sent this request before, so nothing was sent: check the service, then start a new run',
);

/** @param lockId the only id under which this operation may run. Null if a person made up the input */
export async function runOperation<R extends BackupResult | DeploymentResult>(
  lockId: string | null,
  input: OperationInput,
  result: R,
  hooks: OperationHooks,
  work: (operation: Operation<R>) => Promise<Conclusion>,
): Promise<R> {
  refuseWrongId(lockId);
  const releaseLock = openLockQueue(input.waiters, hooks.settleQueue(input));
  const operation = createOperation(input, result, hooks);
  return CancellationScope.nonCancellable(async () => {
    const worked = input.reset ? RUN_WAS_RESET : await work(operation).catch(concludeInternal);
    const { instead } = operation.cancellation;
    const conclusion = unlessReset(instead !== null && worked.outcome !== null ? instead() : worked);
    endWith(result, conclusion);
    countOperation(result, conclusion);
    operation.setWaiting(null);
    operation.setPhase('done');
    // Without a backup there is nothing to share: a run that holds the lock by then puts these waiters in its queue.
    const isShared = 'serverId' in result && result.backupId !== null;
    await releaseLock(isShared ? { service: input.service, result, error: conclusion.error } : null);
    await condition(allHandlersFinished);
    return resultOrFailure(result, conclusion.error);
  });
}

function createOperation<R extends BackupResult | DeploymentResult>(
  input: OperationInput,
  result: R,
  hooks: OperationHooks,
): Operation<R> {
  const progress: OperationProgress<R> = { phase: 'trigger', result, waiting: null };
  setHandler(progressQuery, () => progress, { description: 'What is known now, and what the operation waits for.' });
  answerWhyQuery(() => explainOperation(progress));
  const observers = hooks.observers.map((create) => create(progress));
  const changed = () => observers.forEach((it) => it.changed());
  const setPhase = (phase: OperationPhase, trigger?: string) => {
    progress.phase = phase;
    setAttributes(input.searchAttributes, { phase, outcome: result.outcome, trigger });
    changed();
  };
  const cancellation = observeEnding(observeCancellation());
  const poller = createPoller(result, input.outageBudgetMs, {
    cancellation,
    hints: keepHints({ tries: input.tries, service: input, concerns: (claim) => isAbout(claim, result) }),
    phase: () => progress.phase,
    setPhase,
    setWaiting(waiting) {
      progress.waiting = waiting;
      changed();
    },
  });
  return { ...poller, setPhase, cancellation };
}

/** A backup has no id until its trigger is answered. Until then, every claim may be about it. */
function isAbout(claim: Claim, result: BackupResult | DeploymentResult): boolean {
  // The siteId of an app is null: an event names a site only.
  if ('target' in result) return claim.kind === 'resource.deleted' && claim.siteId === result.siteId;
  return claim.kind === 'backup.failed' && [null, claim.backupId].includes(result.backupId);
}

function refuseWrongId(lockId: string | null): void {
  const { workflowId, workflowType, parent } = workflowInfo();
  if (workflowId === lockId && parent !== undefined) return;
  const id = lockId === null ? 'its id' : `the id ${lockId}`;
  throw ApplicationFailure.create({
    type: 'WrongWorkflowId',
    message: `${workflowType} runs only as a child of a run, under ${id}, which is its lock: start a run instead`,
    nonRetryable: true,
  });
}
