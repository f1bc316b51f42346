/** A run's state: its growing result, what it waits for, and the queries for both. */
import { defineQuery, setHandler, workflowInfo } from '@temporalio/workflow';
import type { WorkerInfo } from '../../contract/activities.ts';
import type { RunInput, RunPlan, RunProgress, RunResult } from '../../contract/run.ts';
import { lockIdOf } from '../../contract/ids.ts';
import { emptyDeployment, emptyResult } from '../../contract/results.ts';
import { explainRun } from '../../contract/explain-wait.ts';
import { setAttributes, answerWhyQuery } from '../ui.ts';
import type { Ending } from '../cancellation.ts';
import { keepHints, type Hints } from '../polling/hints.ts';
import { createLocks, type AcquireLock } from '../lock/acquire.ts';
import { deadlineOf, type DeployLimits } from '../../rules/deadline.ts';
import { drawJitter } from '../../rules/poll-schedule.ts';
import { keepAnswer, type Shown } from '../../rules/verdict.ts';
import { isSameTarget, siteTarget, targetsOf, type Target } from '../../contract/target.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { plainMeta } from '../../contract/safe-text.ts';
import { QUERIES, type Phase, type RunType } from '../../contract/names.ts';
import type { Waiting } from '../../contract/waiting.ts';
import type { AdmissionRead, Deadline, DeploySiteInput, Execution, RecordedService } from '../../contract/operation.ts';
import type { Hold, Observer, RunCheck, RunHooks } from './hooks.ts';

const runProgressQuery = defineQuery<RunProgress>(QUERIES.progress);

export interface RunState {
  readonly type: RunType;
  readonly input: RunInput;
  readonly targets: readonly Target[];
  readonly plan: RunPlan;
  /** The whole answer of the worker that suits the run. */
  readonly facts: WorkerInfo;
  readonly service: RecordedService;
  /** The part of the interval by which its operations delay every try. */
  readonly jitter: number;
  readonly result: RunResult;
  readonly progress: Readonly<RunProgress>;
  /** The operations that it started, in order. */
  readonly operations: readonly Execution[];
  readonly cancellation: Ending;
  readonly hints: Hints;
  readonly holds: readonly Hold[];
  readonly checks: readonly RunCheck[];
  readonly observers: readonly Observer[];
  /** What the run has read of each target before the operation that deploys it (`noteRead`). */
  readonly admissionReads: Map<string, AdmissionReads>;
  readonly limits: DeployLimits;
  /** How often it began a backup. */
  backups: number;
  /** Until when it may begin, in milliseconds since 1970. */
  mayBeginUntilMs(): number;
  readonly acquireLock: AcquireLock;
  phase(): Phase;
  setPhase(phase: Phase): void;
  setWaiting(waiting: Waiting | null): void;
  setOperation(operation: Execution | null): void;
  /** Waits in a phase of its own, and then returns to the phase before. */
  during<T>(phase: Phase, wait: () => Promise<T>): Promise<T>;
}

type Known = Pick<RunState, 'type' | 'input' | 'plan' | 'facts' | 'cancellation'>;

export function createRunState({ type, input, plan, facts, cancellation }: Known, hooks: RunHooks): RunState {
  const { formerly, statuses, epoch, deploymentId } = facts;
  const service = { service: facts.service, formerly, statuses, epoch, ...definedFields({ deploymentId }) };
  const result = { ...newRunResult(input), commit: plan.commit, service: service.service };
  const targets = targetsOf(input);
  // Single runs have no parent.
  const jitter = drawJitter(workflowInfo().parent !== undefined, Math.random);
  const acquireLock = createLocks(cancellation);
  const progress: RunProgress = { result, waiting: null, operation: null };
  const operations: Execution[] = [];
  const [holds, checks, observers]: [Hold[], RunCheck[], Observer[]] = [[], [], []];
  const changed = () => observers.forEach((it) => it.changed?.());
  setHandler(runProgressQuery, () => progress, { description: 'What is known now, and what the run waits for.' });
  answerWhyQuery(() => explainRun(progress));
  const run: RunState = {
    type,
    input,
    targets,
    plan,
    facts,
    service,
    jitter,
    result,
    progress,
    operations,
    cancellation,
    holds,
    checks,
    observers,
    acquireLock,
    hints: keepHints({
      tries: type === 'watchDeployment' ? plan.deploy.tries : plan.backup.tries,
      service,
      concerns: (claim) =>
        claim.kind === 'resource.deleted'
          ? targets.some((target) => isSameTarget(target, siteTarget(claim.siteId)))
          : [undefined, null, claim.backupId].includes(result.backup?.backupId),
    }),
    admissionReads: new Map(),
    limits: {
      startedMs: workflowInfo().startTime.getTime(),
      startDeploysWithinMs: plan.startDeploysWithinMs,
      backupBeganMs: null,
      maxAgeAtDeployMs: plan.backup.maxAgeAtDeployMs,
      until: null,
    },
    backups: 0,
    mayBeginUntilMs() {
      const deadline = deadlineBefore(run);
      const limits = holds.map((it) => it.untilMs?.() ?? Infinity);
      return Math.min(deadline === null ? Infinity : Date.parse(deadline.at), ...limits);
    },
    phase: () => result.phase ?? 'checking',
    setPhase(phase) {
      result.phase = phase;
      setAttributes(facts.searchAttributes, { phase, outcome: result.outcome });
      observers.forEach((it) => it.moved?.());
      changed();
    },
    setWaiting(waiting) {
      progress.waiting = waiting;
      changed();
    },
    setOperation(operation) {
      if (operation !== null) operations.push(operation);
      progress.operation = operation;
      progress.waiting = null;
      changed();
    },
    async during(phase, wait) {
      const before = run.phase();
      run.setPhase(phase);
      const end = await wait();
      run.setWaiting(null);
      run.setPhase(before);
      return end;
    },
  };
  holds.push(...hooks.holds.map((create) => create(run)));
  checks.push(...hooks.checks.map((create) => create(run)));
  observers.push(...hooks.observers.map((create) => create(run)));
  changed();
  return run;
}

type AdmissionReads = Required<Pick<DeploySiteInput, 'admissionRead' | 'earlierAnswers'>>;

export function noteRead(run: RunState, target: Target, read: AdmissionRead, answer?: Shown): void {
  const { admissionRead, earlierAnswers } = admissionReadsOf(run, target);
  if (answer !== undefined) keepAnswer(earlierAnswers, answer);
  // After a status, no answer can mean that the target was never deployed.
  const latest = admissionRead === 'status' ? admissionRead : read;
  run.admissionReads.set(lockIdOf(target), { admissionRead: latest, earlierAnswers });
}

export const admissionReadsOf = ({ admissionReads }: RunState, target: Target): AdmissionReads =>
  admissionReads.get(lockIdOf(target)) ?? { admissionRead: 'failed', earlierAnswers: [] };

/** A backup that is made after a wait begins its age then. */
export const deadlineBefore = ({ limits }: RunState): Deadline | null => deadlineOf({ ...limits, backupBeganMs: null });

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
