/** A run's state: its growing result, what it waits for, and the queries for both. */
import { defineQuery, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { Approved } from '../../../contract/approval.ts';
import type { LetOff } from '../../../contract/freeze.ts';
import type { RunInput, RunPlan, RunProgress, RunResult } from '../../../contract/run.ts';
import { emptyDeployment, emptyResult } from '../../../contract/results/empty-results.ts';
import { explainRun } from '../../../contract/wording/explain-wait.ts';
import { listenForAnswers, type Approvals } from '../../approval/listen.ts';
import { createThaws, type Thaws } from '../../common/await-thaw.ts';
import { setAttributes } from '../../common/search-attributes.ts';
import type { Cancellation } from '../../common/cancellation.ts';
import { observeSuperseding, type Superseding } from '../../common/superseding.ts';
import type { RunReport } from './report-run.ts';
import { runDetails } from './run-details.ts';
import { keepHints, type Hints } from '../../polling/hints.ts';
import { parkedPhase } from '../../polling/parking.ts';
import { acquireLock, type LockAttempt, type WantedLock } from '../../lock/acquire.ts';
import { listenForLocks } from '../../lock/mailbox.ts';
import type { DeployLimits } from '../../../rules/deadline.ts';
import { drawJitter } from '../../../rules/polling/jitter.ts';
import { answerWhyQuery } from '../../common/explain-query.ts';
import { isSameTarget, siteTarget, targetsOf, type Target } from '../../../contract/target.ts';
import { plainMeta } from '../../../contract/wording/safe-text.ts';
import { QUERIES, type Phase, type RunType } from '../../../contract/names.ts';
import type { Waiting } from '../../../contract/waiting.ts';
import { listenForNewer, shortWorkOf, type OwnDeployments } from './superseded-run.ts';
import type { AdmissionRead, RecordedService } from '../../../contract/operation.ts';
import type { CheckPlan } from '../../../contract/site-check.ts';
import type { NotifySettings } from '../../../contract/activities.ts';

const runProgressQuery = defineQuery<RunProgress>(QUERIES.progress);

export interface RunState {
  readonly type: RunType;
  readonly input: RunInput;
  readonly targets: readonly Target[];
  readonly plan: RunPlan;
  /** The part of the interval by which its operations delay every try. */
  readonly jitter: number;
  readonly result: RunResult;
  readonly cancellation: Cancellation;
  /** The same: a run that a newer one replaces ends as a cancelled one does. */
  readonly superseding: Superseding;
  readonly deployments: OwnDeployments;
  readonly hints: Hints;
  /** Known once the run is admitted. */
  service: RecordedService | null;
  /** What was read of each site when the run was admitted. */
  readonly admissionReads: Map<string, AdmissionRead>;
  /** What bounds the time of its triggers. */
  readonly limits: DeployLimits;
  /** Of its sites; known once the run is admitted. */
  checks: readonly CheckPlan[];
  /** Whether the namespace has the search attributes; known once the run is admitted. */
  searchAttributes: boolean;
  /** Where to send notifications; known once the run is admitted. */
  notify: NotifySettings | null;
  acquireLock<T>(wanted: WantedLock<T>): Promise<LockAttempt<T>>;
  setPhase(phase: Phase): void;
  setWaiting(waiting: Waiting | null): void;
  /** What does not hold it back; known once the run is admitted. */
  letOff: LetOff[];
  /** What is asked to be approved. */
  readonly approvals: Approvals;
  /** What was approved, for this run or for its rollout. */
  readonly approved: Approved[];
  /** Its waits for freezes. */
  readonly thaws: Thaws;
  readonly outageBudgetMs: number | null;
  /** For what the run itself polls. */
  readonly setParked: (isParked: boolean) => void;
  setOperation(operation: RunProgress['operation']): void;
  /** Reports how it stands; null if no place wants that, or before it is admitted. */
  report: RunReport | null;
}

export function createRunState(
  type: RunType,
  input: RunInput,
  { plan, ...given }: Pick<RunState, 'plan' | 'cancellation'>,
): RunState {
  const result = { ...newRunResult(input), commit: plan.commit ?? null };
  const targets = targetsOf(input);
  const cancellation = observeSuperseding(given.cancellation);
  // Single runs have no parent.
  const jitter = drawJitter(workflowInfo().parent !== undefined, Math.random);
  const locks = listenForLocks();
  const progress: RunProgress = { result, waiting: null, operation: null };
  const operations: NonNullable<RunProgress['operation']>[] = [];
  const refresh = () => setCurrentDetails(runDetails(progress, operations, workflowInfo().parent?.workflowId ?? null));
  setHandler(runProgressQuery, () => progress, { description: 'What is known now, and what the run waits for.' });
  answerWhyQuery(() => explainRun(progress));
  const run: RunState = {
    type,
    input,
    targets,
    plan,
    jitter,
    result,
    cancellation,
    superseding: cancellation,
    deployments: listenForNewer(() => run, cancellation),
    hints: keepHints({
      tries: type === 'watchDeployment' ? plan.deploy.tries : plan.backup.tries,
      served: () => run.service,
      concerns: (claim) =>
        claim.kind === 'resource.deleted'
          ? targets.some((target) => isSameTarget(target, siteTarget(claim.siteId)))
          : [undefined, null, claim.backupId].includes(result.backup?.backupId),
    }),
    service: null,
    admissionReads: new Map(),
    limits: limitsOf(plan),
    checks: [],
    searchAttributes: false,
    notify: null,
    report: null,
    letOff: [],
    ...{ approvals: listenForAnswers(), approved: [...(input.approved ?? [])], thaws: createThaws() },
    outageBudgetMs: plan.outageBudgetMs,
    setParked: parkedPhase(
      () => result.phase ?? 'checking',
      (phase) => run.setPhase(phase),
    ),
    acquireLock: (wanted) => acquireLock(locks, cancellation, { ...wanted, ...shortWorkOf(run, cancellation) }),
    setPhase(phase) {
      result.phase = phase;
      setAttributes(run.searchAttributes, { phase, outcome: result.outcome });
      void run.report?.update();
      refresh();
    },
    setWaiting(waiting) {
      progress.waiting = waiting;
      refresh();
    },
    setOperation(operation) {
      if (operation !== null) operations.push(operation);
      progress.operation = operation;
      progress.waiting = null;
      refresh();
    },
  };
  return run;
}

const limitsOf = ({ startDeploysWithinMs, backup }: RunPlan): DeployLimits => ({
  startedMs: workflowInfo().startTime.getTime(),
  startDeploysWithinMs,
  backupBeganMs: null,
  maxAgeAtDeployMs: backup.maxAgeAtDeployMs,
  until: null,
});

export function newRunResult(input: RunInput | null): RunResult {
  const { workflowId, runId, startTime } = workflowInfo();
  return emptyResult({
    workflowId,
    runId,
    phase: 'checking',
    deployments: targetsOf(input ?? {}).map(emptyDeployment),
    meta: plainMeta(input?.meta),
    startedAt: startTime.toISOString(),
  });
}
