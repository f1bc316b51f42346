/** Sends the POST of a deployment and keeps reading until it is answered, so that no trace is missed. */
import type { TriggerAnswer } from '../../contract/activities.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { subjectOfTarget } from '../metrics.ts';
import { awaitTrigger, triggerInput } from './send-trigger.ts';
import type { DeploySiteInput } from '../../contract/operation.ts';
import type { DeploymentResult } from '../../contract/run.ts';
import type { Deployment } from './deployment-context.ts';
import type { Operation } from './run-operation.ts';
import { createPollSchedule } from '../../rules/poll-schedule.ts';
import { answeredMs, recordRead, startReadCoverage, type ReadCoverage } from '../../rules/watch-coverage.ts';
import type { TriggerResult } from '../../rules/trigger-policy.ts';
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
import { isNotDeployed } from '../../rules/never-deployed.ts';
import { TIMING } from '../../contract/timing.ts';
import { triggerOnce } from '../activity-proxies.ts';

export interface Sent {
  context: VerdictContext;
  result: TriggerResult<TriggerAnswer>;
  sentMs: number;
  seen: Observations;
  coverage: ReadCoverage;
  /** The last one. */
  trace: Trace | null;
}

export async function sendWatched(
  { operation, input, reader }: Deployment,
  context: VerdictContext,
  summary: string,
  sentMs: number,
): Promise<Sent> {
  const { target, intervalMs } = input;
  const sent: Omit<Sent, 'result'> = {
    context,
    sentMs,
    seen: NO_OBSERVATIONS,
    coverage: startReadCoverage(sentMs),
    trace: null,
  };
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
      if (answer.ok) watch(operation, sent, answer);
      else if (context.baseline === null && isNotDeployed(answer))
        sent.coverage = recordRead(sent.coverage, answeredMs(answer, Date.now()), Date.now());
      return undefined;
    },
  );
  // Even when cancelled, because the result reports what became of the request.
  return { ...sent, result: await answered };
}

function watch({ result }: Operation<DeploymentResult>, sent: Omit<Sent, 'result'>, reading: StatusReading): void {
  const { context } = sent;
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
