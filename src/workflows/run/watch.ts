/** Follows a deployment that something else starts, such as a push. It triggers nothing, so it takes no lock. */
import { definedFields } from '../../contract/plain-object.ts';
import { targetText } from '../../contract/target.ts';
import { FIRST_READS_MS, watchForNeverDeployed } from '../../rules/never-deployed.ts';
import { createPollSchedule } from '../../rules/poll-schedule.ts';
import { refusalOf } from '../../rules/read-failures.ts';
import { observe, NO_OBSERVATIONS, type StatusReading } from '../../rules/verdict.ts';
import { conclude, endWith, type Conclusion } from '../conclusion.ts';
import { awaitVerdict, type Followed, verdictContext } from '../operation/await-verdict.ts';
import { firstCheck, type OperationHooks } from '../operation/hooks.ts';
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
  const operation = createPoller(result, plan.outageBudgetMs, run);
  // A run that watches has no phase of its own for the check.
  const watched = { ...operation, setPhase: () => undefined };
  const toCheck = { service: service.service, ...carried(run, { kind: 'deployment', target }) };
  const check = firstCheck(checks, watched, toCheck);
  const input = { ...plan.deploy, jitter: 0, waits: 'loop' as const };
  const followed: Followed = { operation, input, reader: readerOf(service, { target }), check };
  run.setPhase('deploy');
  result.startedAt = new Date().toISOString();
  await check?.takeBaseline();
  const first = await firstReading(followed);
  const read = first !== null && 'outcome' in first ? first : await follow(run, followed, first);
  return endWith(result, check === undefined ? read : await check.judge(read));
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
  return awaitVerdict(followed, context, { seen, trace: null });
}

/** @returns null if the site was never deployed */
async function firstReading(followed: Followed): Promise<StatusReading | Conclusion | null> {
  const { operation, reader, input } = followed;
  const { target } = operation.result;
  const neverDeployed = watchForNeverDeployed('failed');
  const notWatched = (reason: string) => conclude('not_started', 'Refused', `${targetText(target)}: ${reason}`);
  const polled = await pollUntil<StatusReading | Conclusion | null>(
    operation,
    {
      what: 'deployment',
      reader,
      schedule: createPollSchedule(Date.now(), input.intervalMs, { earlyMs: FIRST_READS_MS }),
      tries: input.tries,
    },
    (answer) => {
      if (answer.ok) return answer;
      if (neverDeployed.isProvenBy(answer)) return null;
      const refusal = refusalOf(answer);
      return refusal === null ? undefined : notWatched(refusal);
    },
  );
  if (polled.kind === 'decided') return polled.value;
  if (polled.kind === 'given_up') return notWatched(polled.reason.message);
  return conclude('not_started', 'Cancelled', `cancelled before ${targetText(target)} was read`);
}
