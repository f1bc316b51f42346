/**
 * The runs: a backup, deployments, a backup and then deployments, or a watch, which triggers nothing. A run is the parent of
 * its operations, and fails unless its outcome is `completed`: the UI then shows it red, and a schedule can pause on it.
 */
import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { RunType, Phase } from '../../contract/names.ts';
import type { RunInput, RunResult, DeploymentResult } from '../../contract/run.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { targetsOf, targetText } from '../../contract/target.ts';
import { observeCancellation } from '../cancellation.ts';
import { endUnchecked, letWorkerCheck } from '../check-worker.ts';
import { concludeInternal, conclude, end, resultOrFailure, worst, type Conclusion } from '../conclusion.ts';
import { reportRun } from '../metrics.ts';
import { type OperationHooks, firstCheck } from '../operation/hooks.ts';
import { admit } from './admit.ts';
import { backUp } from './backup-step.ts';
import { deployAll } from './deploy-step.ts';
import type { RunHooks } from './hooks.ts';
import { createRunState, newRunResult, type RunState } from './run-state.ts';
import { FIRST_READS_MS, watchForNeverDeployed } from '../../rules/never-deployed.ts';
import { createPollSchedule } from '../../rules/poll-schedule.ts';
import { observe, NO_OBSERVATIONS, type StatusReading } from '../../rules/verdict.ts';
import { awaitVerdict, type Followed, verdictContext } from '../operation/await-verdict.ts';
import { refusalOf } from '../operation/take-baseline.ts';
import { pollUntil } from '../polling/poll-until.ts';
import { createPoller } from '../polling/poller.ts';
import { readerOf } from '../polling/status-reader.ts';
import { carried } from './part.ts';

type Run = (input: RunInput) => Promise<RunResult>;

export interface RunWorkflows {
  /** Never deploys unless this run has read its backup as completed. */
  backupThenDeploy: Run;
  backupOnly: Run;
  deployOnly: Run;
  watchDeployment: Run;
}

export const createRuns = (hooks: RunHooks, ofOperations: OperationHooks): RunWorkflows => ({
  backupThenDeploy: (input) =>
    execute('backupThenDeploy', input, hooks, async (run) => {
      const backup = await backUp(run, serverOf(input));
      return backup.outcome === 'completed' && !run.cancellation.requested ? deployAll(run) : [backup];
    }),
  backupOnly: (input) => execute('backupOnly', input, hooks, async (run) => [await backUp(run, serverOf(input))]),
  deployOnly: (input) => execute('deployOnly', input, hooks, deployAll),
  watchDeployment: (input) =>
    execute('watchDeployment', input, hooks, async (run) => [await watch(run, ofOperations.checks)]),
});

function serverOf({ serverId }: RunInput): string {
  if (serverId === undefined) throw new Error('the input was not validated');
  return serverId;
}

type RunSteps = (run: RunState) => Promise<Conclusion[]>;

async function execute(type: RunType, input: RunInput, hooks: RunHooks, steps: RunSteps): Promise<RunResult> {
  const cancellation = observeCancellation();
  const begunMs = Date.now();
  return CancellationScope.nonCancellable(async () => {
    const question = { begins: true, request: { type, input }, atMs: begunMs } as const;
    const checked = await letWorkerCheck(question, () => ({ ...input, targets: targetsOf(input) }));
    if ('error' in checked) return endUnchecked(newRunResult(null), checked.error);
    const run = createRunState({ type, input, ...checked, cancellation }, hooks);
    const { outcome, error } = end(run.result, await runSteps(run, begunMs, steps).catch(concludeInternal));
    for (const deployment of run.result.deployments) deployment.outcome ??= outcome === null ? null : 'not_started';
    for (const check of run.checks) check.ended?.();
    run.setOperation(null);
    run.setPhase('done');
    reportRun(run.result);
    for (const observer of run.observers) await observer.ended?.();
    await condition(allHandlersFinished);
    return resultOrFailure(run.result, error);
  });
}

async function runSteps(run: RunState, begunMs: number, steps: RunSteps): Promise<Conclusion> {
  const refusal = await admit(run, begunMs);
  const conclusion = worst(refusal === null ? await steps(run) : [refusal]);
  const isWhole = [conclusion, ...run.result.deployments].every(({ outcome }) => outcome === 'completed');
  const { requested, instead } = run.cancellation;
  if (!requested || isWhole) return conclusion;
  if (instead !== null && conclusion.outcome !== 'failed') return instead();
  const message = conclusion.error?.type === 'Cancelled' ? conclusion.error.message : 'cancelled';
  return worst([conclusion, conclude(hasRequested(run.result) ? 'cancelled' : 'not_started', 'Cancelled', message)]);
}

const hasRequested = ({ backup, deployments }: RunResult): boolean =>
  [backup, ...deployments].some((it) => it !== null && it.trigger.attempts > 0);

/* Follows a deployment that something else starts, such as a push. It triggers nothing, so it takes no lock. */

async function watch(run: RunState, checks: OperationHooks['checks']): Promise<Conclusion> {
  const result = run.result.deployments[0];
  if (result === undefined) throw new Error('the input was not validated');
  const { service, plan } = run;
  const { target } = result;
  const operation = createPoller<Phase, DeploymentResult>(result, run);
  // The phase of a run that watches stays what it is.
  const checked = { ...operation, setPhase: () => undefined };
  const of = { service: service.service, ...carried(run, { kind: 'deployment', target }) };
  const check = firstCheck(checks, checked, of);
  const followed: Followed = { operation, input: plan.deploy, reader: readerOf(service, { target }), check };
  run.setPhase('deploy');
  result.startedAt = new Date().toISOString();
  await check?.takeBaseline();
  const first = await firstReading(followed);
  const read = 'conclusion' in first ? first.conclusion : await follow(run, followed, first.reading);
  return end(result, check === undefined ? read : await check.judge(read));
}

/** @param reading null if the site was never deployed */
function follow(run: RunState, followed: Followed, reading: StatusReading | null): Promise<Conclusion> {
  const { target } = followed.operation.result;
  const wanted = { ...run.plan.deploy, target, ...definedFields({ serverId: run.input.serverId }) };
  // A deployment that is already in progress is the one to follow, and the status before it is unknown.
  const baseline = reading?.state === 'in_progress' ? null : reading;
  // Nothing is accepted here. On a site that was never deployed, any status that lasts is a new deployment's.
  const context = { ...verdictContext(wanted, baseline), accepted: reading === null };
  const at = { own: true, nowMs: Date.now() };
  const seen = reading === null ? NO_OBSERVATIONS : observe(context, NO_OBSERVATIONS, reading, at);
  return awaitVerdict(followed, context, { seen, reading: null });
}

/** A null reading means that the site was never deployed. */
type FirstReading = { reading: StatusReading | null } | { conclusion: Conclusion };

async function firstReading(followed: Followed): Promise<FirstReading> {
  const { operation, reader, input } = followed;
  const { target } = operation.result;
  const neverDeployed = watchForNeverDeployed('failed');
  const notWatched = (reason: string) => ({
    conclusion: conclude('not_started', 'Refused', `${targetText(target)}: ${reason}`),
  });
  const polled = await pollUntil<FirstReading>(
    operation,
    {
      what: 'deployment',
      reader,
      schedule: createPollSchedule(Date.now(), input.intervalMs, { earlyMs: FIRST_READS_MS }),
      tries: input.tries,
    },
    (answer) => {
      if (answer.ok) return { reading: answer };
      if (neverDeployed.isProvenBy(answer)) return { reading: null };
      const refusal = refusalOf(answer);
      return refusal === null ? undefined : notWatched(refusal);
    },
  );
  if (polled.kind === 'decided') return polled.value;
  if (polled.kind === 'given_up') return notWatched(polled.reason.message);
  return { conclusion: conclude('not_started', 'Cancelled', `cancelled before ${targetText(target)} was read`) };
}
