/**
 * What both operations are: a child of a run under the id that is the lock, with progress, hints, and a queue that is
 * handed on however it ends.
 */
import { ApplicationFailure } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  defineQuery,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  QUERIES,
  type BackupResult,
  type BackupServerInput,
  type DeploymentResult,
  type DeploySiteInput,
  type OperationPhase,
  type OperationProgress,
  type TriggerReport,
} from '../../contract/run.ts';
import type { Claim } from '../../contract/event.ts';
import { whyOperation } from '../../contract/wording/explain-wait.ts';
import { setAttributes, type Attributes } from '../common/search-attributes.ts';
import { observeCancellation } from '../common/cancellation.ts';
import { operationDetails } from '../common/ui-details.ts';
import { defect, ended, resultOrFailure, type End } from '../common/conclusion.ts';
import { keepHints } from '../polling/hints.ts';
import { holdLock } from '../lock/release.ts';
import { createWatcher, type Watcher } from '../polling/poller.ts';
import { answerWhy } from '../common/explain-query.ts';

export const progressQuery = defineQuery<OperationProgress>(QUERIES.progress);

export interface Operation<R> extends Watcher {
  readonly result: R;
  enter(phase: OperationPhase): void;
  noteTrigger(kind: string): void;
}

export const NO_TRIGGER: TriggerReport = { attempts: 0, ambiguous: false, reconciledBy: null };

const RUN_WAS_RESET = ended(
  'unknown',
  'OutcomeUnknown',
  'the run was reset, and may have sent this request before: nothing was sent; look at the service, start a new run',
);

/** @param lockId the only id under which this operation may run */
export async function runOperation<R extends BackupResult | DeploymentResult>(
  lockId: string,
  input: BackupServerInput | DeploySiteInput,
  result: R,
  work: (operation: Operation<R>) => Promise<End>,
): Promise<R> {
  refuseWrongId(lockId);
  const lock = holdLock(input.waiters);
  const operation = openOperation(input, result);
  return CancellationScope.nonCancellable(async () => {
    const end = input.reset ? RUN_WAS_RESET : await work(operation).catch(defect);
    result.outcome = end.outcome;
    result.endedAt = new Date().toISOString();
    if ('error' in result) result.error = end.error;
    operation.show(null);
    operation.enter('done');
    await lock.release('serverId' in result ? { result, error: end.error } : null);
    await condition(allHandlersFinished);
    return resultOrFailure(result, end.error);
  });
}

function openOperation<R extends BackupResult | DeploymentResult>(
  input: BackupServerInput | DeploySiteInput,
  result: R,
): Operation<R> {
  const progress: OperationProgress<R> = { phase: 'trigger', result, waiting: null };
  const upsert = (attributes: Attributes) => setAttributes(input.searchAttributes, attributes);
  setHandler(progressQuery, () => progress, { description: 'What is known now, and what is waited for.' });
  answerWhy(() => whyOperation(progress));
  const watcher = createWatcher(result, {
    cancellation: observeCancellation(),
    hints: keepHints(input.tries, (claim) => isAbout(claim, result)),
    show(waiting) {
      progress.waiting = waiting;
      setCurrentDetails(operationDetails(progress));
    },
  });
  return Object.assign(watcher, {
    result,
    enter(phase: OperationPhase) {
      progress.phase = phase;
      upsert({ phase, ...(result.outcome === null ? {} : { outcome: result.outcome }) });
      setCurrentDetails(operationDetails(progress));
    },
    noteTrigger: (trigger: string) => upsert({ trigger }),
  });
}

/** A backup has no id while its trigger isn't answered: then every claim may be about it. */
function isAbout(claim: Claim, result: BackupResult | DeploymentResult): boolean {
  if ('siteId' in result) return claim.kind === 'resource.deleted' && claim.siteId === result.siteId;
  return claim.kind === 'backup.failed' && [null, claim.backupId].includes(result.backupId);
}

function refuseWrongId(lockId: string): void {
  const { workflowId, workflowType, parent } = workflowInfo();
  if (workflowId === lockId && parent !== undefined) return;
  throw ApplicationFailure.create({
    type: 'WrongWorkflowId',
    message: `${workflowType} runs only as a child of a run and under the id ${lockId}, which is its lock; start a run`,
    nonRetryable: true,
  });
}
