/** A run's state: its result as it grows, what it waits for, and who may ask for both. */
import { defineQuery, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import {
  QUERIES,
  type Phase,
  type RunInput,
  type RunProgress,
  type RunResult,
  type RunType,
  type Waiting,
} from '../../contract/run.ts';
import type { NotifyFacts } from '../../contract/activities.ts';
import { planOf, type RunPlan } from '../../request/validate-run-input.ts';
import { emptyResult } from '../../contract/results/empty-results.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { whyRun } from '../../contract/wording/explain-wait.ts';
import { setAttributes } from '../common/search-attributes.ts';
import { observeCancellation, type Cancellation } from '../common/cancellation.ts';
import { newDeploymentResult } from '../operation/deployment-context.ts';
import { runDetails } from '../common/ui-details.ts';
import { keepHints, type Hints } from '../polling/hints.ts';
import { createHolderLookup } from '../lock/look-up-holder.ts';
import { hearLocks, takeLock, type Turn, type WantedLock } from '../lock/acquire.ts';
import { answerWhy } from '../common/explain-query.ts';

export const runProgressQuery = defineQuery<RunProgress>(QUERIES.progress);

export interface Run {
  readonly type: RunType;
  readonly input: RunInput;
  readonly plan: RunPlan;
  readonly result: RunResult;
  readonly cancellation: Cancellation;
  readonly hints: Hints;
  /** Whether the namespace has the search attributes; known once the run is admitted. */
  searchAttributes: boolean;
  /** Who is told how it ends; known once the run is admitted. */
  notify: NotifyFacts | null;
  takeLock<T>(wanted: WantedLock<T>): Promise<Turn<T>>;
  enter(phase: Phase): void;
  show(waiting: Waiting | null): void;
  /** That it waits for a lock, and who holds that. */
  showLock(lockId: string, since: string): void;
  showOperation(operation: RunProgress['operation']): void;
}

export function openRun(type: RunType, input: RunInput): Run {
  const result = newRunResult(input);
  const plan = planOf(input);
  const cancellation = observeCancellation();
  const locks = hearLocks();
  const holders = createHolderLookup();
  const progress: RunProgress = { result, waiting: null, operation: null };
  const refresh = () => setCurrentDetails(runDetails(progress));
  setHandler(runProgressQuery, () => progress, { description: 'What is known now, and what is waited for.' });
  answerWhy(() => whyRun(progress));
  const run: Run = {
    type,
    input,
    plan,
    result,
    cancellation,
    hints: keepHints(type === 'watchDeployment' ? plan.deploy.tries : plan.backup.tries, (claim) =>
      claim.kind === 'resource.deleted'
        ? input.siteIds.includes(claim.siteId)
        : [undefined, null, claim.backupId].includes(result.backup?.backupId),
    ),
    searchAttributes: false,
    notify: null,
    takeLock: (wanted) => takeLock(locks, cancellation, wanted),
    enter(phase) {
      result.phase = phase;
      const outcome = result.outcome === null ? {} : { outcome: result.outcome };
      setAttributes(run.searchAttributes, { phase, ...outcome });
      refresh();
    },
    show(waiting) {
      progress.waiting = waiting;
      refresh();
    },
    showLock(lockId, since) {
      const waiting = { for: 'lock', lockId, since, heldBy: holders.known(lockId) } as const;
      run.show(waiting);
      holders.lookUp(lockId, (heldBy) => (progress.waiting === waiting ? run.show({ ...waiting, heldBy }) : undefined));
    },
    showOperation(operation) {
      progress.operation = operation;
      progress.waiting = null;
      refresh();
    },
  };
  return run;
}

export function newRunResult(input: RunInput | null): RunResult {
  const { workflowId, runId, startTime } = workflowInfo();
  return emptyResult({
    workflowId,
    runId,
    phase: 'checking',
    deployments: (input?.siteIds ?? []).map(newDeploymentResult),
    meta: plainMeta(input?.meta),
    startedAt: startTime.toISOString(),
  });
}

export function plainMeta(meta: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(meta).map(([name, value]) => [plainText(name), plainText(value)]));
}
