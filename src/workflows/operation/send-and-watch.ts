/** Sends the POST of a deployment and keeps reading until it is answered, so that no trace is missed. */
import type { TriggerAnswer } from '../../contract/activities.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { targetText } from '../../contract/wording/target-text.ts';
import { subjectOfTarget } from '../common/report.ts';
import { postSummary, awaitTrigger, triggerInput } from './send-trigger.ts';
import type { DeploySiteInput } from '../../contract/operation.ts';
import type { DeploymentResult } from '../../contract/run.ts';
import type { Deployment } from './deployment-context.ts';
import type { Operation } from './run-operation.ts';
import { createPollSchedule } from '../../rules/polling/poll-schedule.ts';
import { answeredMs, recordRead, startReadCoverage, type ReadCoverage } from '../../rules/watch-coverage.ts';
import { isUnsent, type TriggerResult } from '../../rules/trigger-policy.ts';
import {
  observe,
  NO_OBSERVATIONS,
  traceOf,
  type VerdictContext,
  type Observations,
  type StatusReading,
  type Trace,
} from '../../rules/verdict.ts';
import { noteProgress } from '../polling/poller.ts';
import { pollUntil } from '../polling/poll-until.ts';
import { isNotDeployed } from '../../rules/polling/never-deployed.ts';
import { TIMING } from '../../contract/budgets/timing.ts';
import { triggerOnce } from '../common/activity-proxies.ts';

export interface Sent {
  result: TriggerResult<TriggerAnswer>;
  sentMs: number;
  seen: Observations;
  coverage: ReadCoverage;
  /** The last one. */
  trace: Trace | null;
}

export async function sendWatched({ operation, input, reader }: Deployment, context: VerdictContext): Promise<Sent> {
  const { target, intervalMs } = input;
  const { trigger } = operation.result;
  const sentMs = Date.now();
  const sent: Omit<Sent, 'result'> = {
    sentMs,
    seen: NO_OBSERVATIONS,
    coverage: startReadCoverage(sentMs),
    trace: null,
  };
  operation.setPhase('trigger');
  trigger.attempts += 1;
  const summary = postSummary(`deploy ${targetText(target)}`, trigger);
  let result: Sent['result'] | undefined;
  const answered = awaitTrigger(
    subjectOfTarget(target),
    triggerOnce.triggerDeployment.executeWithOptions({ summary }, [
      { ...triggerInput(input), ...placeOf(input), readAt: new Date(sentMs - operation.lagMs).toISOString() },
    ]),
  ).then((it) => (result = it));
  await pollUntil(
    operation,
    {
      what: 'trace',
      reader,
      schedule: createPollSchedule(sentMs, intervalMs, { earlyMs: TIMING.poll.earlyReadsMs }),
      tries: Math.ceil(TIMING.post.underWayMs / intervalMs),
      until: () => result !== undefined,
      parks: false,
    },
    (answer) => {
      if (answer.ok) watch(operation, sent, context, answer);
      else if (context.baseline === null && isNotDeployed(answer))
        sent.coverage = recordRead(sent.coverage, answeredMs(answer, Date.now()), Date.now());
      return undefined;
    },
  );
  // Even when cancelled, because the result reports what became of the request.
  const ended = await answered;
  if (isUnsent(ended)) trigger.attempts -= 1;
  return { ...sent, result: ended };
}

function watch(
  { result }: Operation<DeploymentResult>,
  sent: Omit<Sent, 'result'>,
  context: VerdictContext,
  reading: StatusReading,
): void {
  const nowMs = Date.now();
  sent.seen = observe(context, sent.seen, reading, { own: true, nowMs });
  sent.coverage = recordRead(sent.coverage, answeredMs(reading, nowMs), nowMs);
  sent.trace = traceOf(context, sent.seen, reading) ?? sent.trace;
  noteProgress(result, reading);
}

const placeOf = ({ target, serverId, deploymentId }: DeploySiteInput) => ({
  target,
  ...definedFields({ serverId, deploymentId }),
});
