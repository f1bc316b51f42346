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
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { QUERIES } from '../../contract/names.ts';
import type { BackupResult, DeploymentResult } from '../../contract/run.ts';
import type {
  BackupServerInput,
  DeploySiteInput,
  OperationPhase,
  OperationProgress,
} from '../../contract/operation.ts';
import type { Claim } from '../../features/events/shapes.ts';
import { explainOperation, waitingSentence } from '../../contract/explain-wait.ts';
import { setAttributes, answerWhyQuery, MARKDOWN, orNothing, readsText } from '../ui.ts';
import { observeCancellation, observeEnding, type Ending } from '../cancellation.ts';
import { concludeInternal, conclude, end, resultOrFailure, type Conclusion } from '../conclusion.ts';
import { reportOperation } from '../metrics.ts';
import type { OperationHooks } from './hooks.ts';
import { keepHints } from '../polling/hints.ts';
import { openLockQueue } from '../lock/release.ts';
import { parkedPhase } from '../polling/parking.ts';
import { createPoller, type Poller } from '../polling/poller.ts';
import { readText } from '../../features/site-checks/text.ts';
import { evidenceLegend, factList, uiPage } from '../../contract/markdown.ts';
import { codeSpan, shellWord } from '../../contract/safe-text.ts';
import { counted } from '../../contract/results.ts';
import { targetLabel } from '../../contract/target.ts';

const progressQuery = defineQuery<OperationProgress>(QUERIES.progress);

export interface Operation<R> extends Poller {
  readonly result: R;
  /** @param trigger the result of the last POST, if it begins this phase */
  setPhase(phase: OperationPhase, trigger?: string): void;
  recordTrigger(kind: string): void;
  readonly cancellation: Ending;
}

const RUN_WAS_RESET = conclude(
  'unknown',
  'OutcomeUnknown',
  'the run was reset and may have sent this request before, so nothing was sent: check the service, then start a new run',
);

/** @param lockId the only id under which this operation may run */
export async function runOperation<R extends BackupResult | DeploymentResult>(
  lockId: string,
  input: BackupServerInput | DeploySiteInput,
  result: R,
  { settleQueue }: OperationHooks,
  work: (operation: Operation<R>) => Promise<Conclusion>,
): Promise<R> {
  refuseWrongId(lockId);
  const lock = openLockQueue(input.waiters, settleQueue(input));
  const operation = createOperation(input, result);
  return CancellationScope.nonCancellable(async () => {
    const worked = input.reset ? RUN_WAS_RESET : await work(operation).catch(concludeInternal);
    const { instead } = operation.cancellation;
    const conclusion = instead !== null && worked.outcome !== null ? instead() : worked;
    end(result, conclusion);
    reportOperation(result, conclusion);
    operation.setWaiting(null);
    operation.setPhase('done');
    // Without a backup there is nothing to share: a run that holds the lock by then puts these waiters in its queue.
    const isShared = 'serverId' in result && result.backupId !== null;
    await lock.release(isShared ? { service: input.service, result, error: conclusion.error } : null);
    await condition(allHandlersFinished);
    return resultOrFailure(result, conclusion.error);
  });
}

function createOperation<R extends BackupResult | DeploymentResult>(
  input: BackupServerInput | DeploySiteInput,
  result: R,
): Operation<R> {
  const progress: OperationProgress<R> = { phase: 'trigger', result, waiting: null };
  setHandler(progressQuery, () => progress, { description: 'What is known now, and what the operation waits for.' });
  answerWhyQuery(() => explainOperation(progress));
  const show = () => setCurrentDetails(operationDetails(progress, workflowInfo().parent?.workflowId ?? null));
  const setPhase = (phase: OperationPhase, trigger?: string) => {
    progress.phase = phase;
    setAttributes(input.searchAttributes, { phase, outcome: result.outcome, trigger });
    show();
  };
  const cancellation = observeEnding(observeCancellation());
  const poller = createPoller(result, {
    cancellation,
    hints: keepHints({
      tries: input.tries,
      served: () => input,
      concerns: (claim) => isAbout(claim, result),
    }),
    outageBudgetMs: input.outageBudgetMs,
    waits: input.waits,
    setParked: parkedPhase(() => progress.phase, setPhase),
    setWaiting(waiting) {
      progress.waiting = waiting;
      show();
    },
  });
  return Object.assign(poller, {
    result,
    setPhase,
    cancellation,
    recordTrigger: (trigger: string) => setAttributes(input.searchAttributes, { trigger }),
  });
}

/** A backup has no id until its trigger is answered. Until then, every claim may be about it. */
function isAbout(claim: Claim, result: BackupResult | DeploymentResult): boolean {
  // The siteId of an app is null: an event names a site only.
  if ('target' in result) return claim.kind === 'resource.deleted' && claim.siteId === result.siteId;
  return claim.kind === 'backup.failed' && [null, claim.backupId].includes(result.backupId);
}

function refuseWrongId(lockId: string): void {
  const { workflowId, workflowType, parent } = workflowInfo();
  if (workflowId === lockId && parent !== undefined) return;
  throw ApplicationFailure.create({
    type: 'WrongWorkflowId',
    message: `${workflowType} runs only as a child of a run, under the id ${lockId}, which is its lock: start a run instead`,
    nonRetryable: true,
  });
}

/* What the page of an operation in the Temporal UI shows about its present. */

const DOING: Record<OperationPhase, string> = {
  baseline: 'reads the status from before the request',
  trigger: 'sends the request',
  reconcile: 'looks whether the request took effect, because its answer is in doubt',
  wait: 'the request was accepted; waits for a final status',
  verify: 'the service reports that it completed; checks the site',
  parked: 'waits for the service, which does not answer',
  done: 'done',
};

/** @param runId that of the run whose part it is */
function operationDetails({ phase, result, waiting }: OperationProgress, runId: string | null): string {
  const { outcome } = result;
  const isDeployment = 'target' in result;
  const what = isDeployment
    ? `Deployment of ${targetLabel(result.target, codeSpan)}`
    : `Backup of ${codeSpan(result.serverId)}`;
  return uiPage(
    `**${what}: ${outcome ?? phase}**`,
    outcome === null
      ? `${DOING[phase]}${waiting === null ? '' : `: ${waitingSentence(waiting, null, MARKDOWN)}`}`
      : null,
    isDeployment && result.error !== null ? codeSpan(result.error.message) : null,
    factList({
      Request: requestText(result),
      Reads: readsText(result.polls, waiting),
      'Last status': orNothing(result.lastStatus, codeSpan),
      'Read at': waiting !== null && 'lastReadAt' in waiting ? orNothing(waiting.lastReadAt) : null,
      Evidence: isDeployment ? (result.evidence ?? 'none yet') : null,
      Check: isDeployment ? checkFacts(result) : null,
    }),
    isDeployment ? evidenceLegend([result.evidence]) : null,
    outcome === null && runId !== null
      ? `Stop it: \`npx belay-deploy cancel ${shellWord(runId)}\`, which cancels its run.`
      : null,
  );
}

function checkFacts({ check }: DeploymentResult): string | null {
  if (check === undefined || check === null) return null;
  const { name, outcome, reads, goodReads, baseline, last } = check;
  const [before, after] = [baseline, last].map((read) => (read === null ? 'nothing yet' : codeSpan(readText(read))));
  return `${codeSpan(name)}: ${outcome ?? 'no outcome yet'}, ${goodReads} of ${counted(reads, 'read')} good; before the request: ${before}; last: ${after}`;
}

function requestText({ trigger, acceptedAt }: BackupResult | DeploymentResult): string {
  const { attempts, ambiguous, reconciledBy } = trigger;
  if (attempts === 0) return 'not sent yet';
  const doubt = ambiguous ? `, in doubt, resolved by: ${reconciledBy ?? 'nothing yet'}` : '';
  return `sent ${attempts === 1 ? 'once' : `${attempts} times`}${acceptedAt === null ? '' : `, accepted ${acceptedAt}`}${doubt}`;
}
