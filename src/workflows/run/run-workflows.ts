/** The runs: a backup, deployments, a backup and then deployments, or a watch, which triggers nothing. */
import type { RunInput, RunResult, DeploymentResult } from '../../contract/run.ts';
import { type OperationHooks, firstCheck, type CheckedOperation } from '../operation/hooks.ts';
import { backUp } from './backup-step.ts';
import { deployAll } from './deploy-step.ts';
import { execute } from './execute-run.ts';
import type { RunHooks } from './hooks.ts';
import { targetText } from '../../contract/target.ts';
import { deploymentReader } from '../polling/status-reader.ts';
import { refusalOf } from '../operation/take-baseline.ts';
import { conclude, end, type Conclusion } from '../conclusion.ts';
import { createPollSchedule } from '../../rules/poll-schedule.ts';
import { observe, NO_OBSERVATIONS, type StatusReading } from '../../rules/verdict.ts';
import { FIRST_READS_MS, watchForNeverDeployed } from '../../rules/never-deployed.ts';
import type { RunState } from './run-state.ts';
import { carried } from './operation-input.ts';
import { awaitVerdict, type Followed } from '../operation/await-verdict.ts';
import { pollUntil } from '../polling/poll-until.ts';
import { createPoller, noteProgress, type Poller } from '../polling/poller.ts';

type Run = (input: RunInput) => Promise<RunResult>;

export interface RunWorkflows {
  /** Never deploys unless this run has read its backup as completed. */
  backupThenDeploy: Run;
  backupOnly: Run;
  deployOnly: Run;
  /** Follows a deployment that something else starts, such as a push. */
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

/* Follows a deployment that something else starts, such as a push. It triggers nothing, so it takes no lock. */

async function watch(run: RunState, checks: OperationHooks['checks']): Promise<Conclusion> {
  const result = run.result.deployments[0];
  if (result === undefined) throw new Error('the input was not validated');
  const { intervalMs, tries, settleMs, minEvidence } = run.plan.deploy;
  const { target } = result;
  const reader = deploymentReader({ ...run.service, target });
  const poller = createPoller(result, run);
  const { service } = run.service;
  const check = firstCheck(checks, watched(poller, result), {
    service,
    ...carried(run, { kind: 'deployment', target }),
  });
  const followed: Followed = {
    ...{ poller, result, reader, intervalMs, tries, check },
    jitterMs: 0,
    notFoundAnswers: true,
  };
  run.setPhase('deploy');
  result.startedAt = new Date().toISOString();
  await check?.takeBaseline();
  const first = await firstReading(followed);
  const read = 'conclusion' in first ? first.conclusion : await follow(first.reading);
  return end(result, check === undefined ? read : await check.judge(read));

  async function follow(reading: StatusReading | null): Promise<Conclusion> {
    // A deployment that is already in progress is the one to follow, and the status before it is unknown.
    const baseline = reading?.state === 'in_progress' ? null : reading;
    // Nothing is accepted here. On a site that was never deployed, any status that lasts is a new deployment's.
    const accepted = reading === null;
    const { serverId } = run.input;
    const otherIds = serverId === undefined ? [target.id] : [target.id, serverId];
    const context = { baseline, accepted, triggerIds: {}, otherIds, settleMs, minEvidence };
    if (reading !== null) noteProgress(followed.result, reading);
    const at = { own: true, nowMs: Date.now() };
    const seen = reading === null ? NO_OBSERVATIONS : observe(context, NO_OBSERVATIONS, reading, at);
    return awaitVerdict(followed, context, { seen, reading: null });
  }
}

/** The phase of a run that watches stays what it is. */
const watched = (poller: Poller, result: DeploymentResult): CheckedOperation =>
  Object.assign(poller, { result, setPhase: () => undefined });

/** A null reading means that the site was never deployed. */
type FirstReading = { reading: StatusReading | null } | { conclusion: Conclusion };

async function firstReading(followed: Followed): Promise<FirstReading> {
  const { poller, reader, intervalMs, tries, result } = followed;
  const neverDeployed = watchForNeverDeployed('failed');
  const notWatched = (reason: string) => ({
    conclusion: conclude('not_started', 'Refused', `${targetText(result.target)}: ${reason}`),
  });
  const polled = await pollUntil<FirstReading>(
    poller,
    {
      what: 'deployment',
      reader,
      schedule: createPollSchedule(Date.now(), intervalMs, { earlyMs: FIRST_READS_MS }),
      tries,
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
  return { conclusion: conclude('not_started', 'Cancelled', `cancelled before ${targetText(result.target)} was read`) };
}
