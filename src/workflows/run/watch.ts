/** Follows a deployment that something else starts, such as a push. It triggers nothing, so it takes no lock. */
import type { Phase } from '../../contract/names.ts';
import type { DeploymentResult } from '../../contract/run.ts';
import { targetText } from '../../contract/target.ts';
import { FIRST_READS_MS, watchForNeverDeployed } from '../../rules/never-deployed.ts';
import { createPollSchedule } from '../../rules/poll-schedule.ts';
import { observe, NO_OBSERVATIONS, type StatusReading } from '../../rules/verdict.ts';
import { conclude, end, type Conclusion } from '../conclusion.ts';
import { awaitVerdict, type Followed } from '../operation/await-verdict.ts';
import { type OperationHooks, firstCheck } from '../operation/hooks.ts';
import { refusalOf } from '../operation/take-baseline.ts';
import { pollUntil } from '../polling/poll-until.ts';
import { createPoller } from '../polling/poller.ts';
import { readerOf } from '../polling/status-reader.ts';
import { carried } from './part.ts';
import type { RunState } from './run-state.ts';

export async function watch(run: RunState, checks: OperationHooks['checks']): Promise<Conclusion> {
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
  const { settleMs, minEvidence } = run.plan.deploy;
  const { target } = followed.operation.result;
  const { serverId } = run.input;
  const otherIds = serverId === undefined ? [target.id] : [target.id, serverId];
  // A deployment that is already in progress is the one to follow, and the status before it is unknown.
  const baseline = reading?.state === 'in_progress' ? null : reading;
  // Nothing is accepted here. On a site that was never deployed, any status that lasts is a new deployment's.
  const accepted = reading === null;
  const context = { baseline, accepted, triggerIds: {}, otherIds, settleMs, minEvidence };
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
