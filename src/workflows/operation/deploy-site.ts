/** One deployment: takes the baseline, triggers, and polls for our verdict. It is the lock of its target. */
import type { DeploymentResult } from '../../contract/run.ts';
import { targetText } from '../../contract/target.ts';
import { lockIdOf } from '../../contract/ids.ts';
import { firstCheck, type OperationHooks } from './hooks.ts';
import { takeBaseline, type Baseline } from './take-baseline.ts';
import { conclude, type Conclusion } from '../conclusion.ts';
import { followed, type Deployment, awaitVerdict, ID_FIELD_REMEDY } from './await-verdict.ts';
import { emptyDeployment } from '../../contract/results.ts';
import { runOperation } from './run-operation.ts';
import { deploymentReader } from '../polling/status-reader.ts';
import { type TriggerCounts, answeredMs, recordOutage, recordRead, hasNoGaps } from '../../rules/trigger-policy.ts';
import { type VerdictContext, type StatusReading, observe, traceOf, type Trace } from '../../rules/verdict.ts';
import { lateness } from '../../rules/deadline.ts';
import { hasRoomToSend, NO_ROOM, sendUntilAccepted } from './send-until-accepted.ts';
import { sendWatched, type Sent } from './send-trigger.ts';
import type { DeploySiteInput } from '../../contract/operation.ts';
import { skipTo, createPollSchedule } from '../../rules/poll-schedule.ts';
import { noteProgress } from '../polling/poller.ts';
import { pollUntil } from '../polling/poll-until.ts';
import { isNotDeployed } from '../../rules/never-deployed.ts';
import { TIMING } from '../../contract/timing.ts';

/** A status that always takes longer than the interval, such as that of a site that was never deployed, ends them. */
const MAX_SITE_BASELINES = 3;

export async function deploySite(input: DeploySiteInput, hooks: OperationHooks): Promise<DeploymentResult> {
  // Started by hand, it may lack a target. Its id is then wrong.
  const target = { ...input.target };
  const result = { ...emptyDeployment(target), startedAt: new Date().toISOString() };
  const lockId = lockIdOf(target);
  return runOperation(lockId, input, result, hooks, async (operation) => {
    for (const listen of hooks.endings) listen(operation);
    const check = firstCheck(hooks.checks, operation, input);
    const conclusion = await deploy({ operation, input, reader: deploymentReader(input), check });
    if (result.acceptedAt !== null) result.verdictAt = new Date().toISOString();
    return check === undefined ? conclusion : check.judge(conclusion);
  });
}

async function deploy(deployment: Deployment): Promise<Conclusion> {
  const { operation, input, reader } = deployment;
  const { target } = input;
  const name = targetText(target);
  let baseline: StatusReading | null | undefined;
  let sent: Sent | undefined;
  const end = await sendUntilAccepted(operation, input, {
    what: `deploy ${name}`,
    prefix: `${name}: `,
    cancelledBefore: `cancelled before ${name} was deployed`,
    busyWaitMs: input.baselineWaitMs,
    probe: { what: 'baseline', reader },
    late: () => lateness(input.deadline, Date.now()),
    async prepare(counts, busyEndsMs) {
      // After an ambiguous trigger, a deployment in progress may be ours, so the first baseline is kept.
      if (baseline === undefined || counts.ambiguous === 0) {
        const taken = await takeBaselines(deployment, busyEndsMs);
        if ('conclusion' in taken) return taken.conclusion;
        baseline = taken.baseline;
        // What was in progress until now was not ours.
        operation.result.inProgressAt = null;
      }
      const late = lateness(input.deadline, Date.now());
      if (late !== null) return concludeLate(counts, `${name} was not deployed: ${late}`);
      const { instead } = operation.cancellation;
      if (instead !== null) return instead();
      operation.cancellation.begin();
      return null;
    },
    async post(summary, sentMs) {
      sent = await sendWatched(deployment, verdictContextOf(input, baseline ?? null), summary, sentMs);
      return sent.result;
    },
    async resolveDoubt({ ambiguities, notBeforeMs }) {
      const found = await reconcile(deployment, sent!, ambiguities, notBeforeMs);
      if (found === 'send again') return notBeforeMs;
      if ('outcome' in found) return found;
      sent = found;
      return 'accepted';
    },
  });
  return end ?? follow(deployment, sent!);
}

/** The request was accepted, or it left a trace. */
function follow(deployment: Deployment, { context, result, seen, trace, sentMs }: Sent): Promise<Conclusion> {
  const reading = trace?.reading ?? null;
  const [ids, start] =
    result.kind === 'accepted' ? [result.answer.ids ?? {}, { seen, reading, sentMs }] : [{}, { seen, reading }];
  return awaitVerdict(followed(deployment), { ...context, accepted: true, triggerIds: ids }, start);
}

/** Of the site and of its status. The request follows the second one at once, and a site may take long to answer. */
async function takeBaselines(deployment: Deployment, busyEndsMs: number): Promise<Baseline> {
  const { check, input } = deployment;
  for (let times = 1; ; times += 1) {
    await check?.takeBaseline();
    const readMs = Date.now();
    const taken = await takeBaseline(deployment, busyEndsMs);
    if (check === undefined || 'conclusion' in taken || Date.now() - readMs <= input.intervalMs) return taken;
    // Another deployment may have ended since, and changed the site.
    if (times < MAX_SITE_BASELINES) continue;
    check.forgetBaseline();
    return taken;
  }
}

/** After an ambiguous request, nothing may claim that no deployment was started. */
function concludeLate({ ambiguous }: TriggerCounts, message: string): Conclusion {
  if (ambiguous === 0) return conclude('not_started', 'TooLate', message);
  return conclude('unknown', 'OutcomeUnknown', `an earlier request may have had an effect; ${message}`);
}

function verdictContextOf(
  { settleMs, minEvidence, target, serverId }: DeploySiteInput,
  baseline: StatusReading | null,
): VerdictContext {
  const otherIds = serverId === undefined ? [target.id] : [target.id, serverId];
  return { baseline, accepted: false, triggerIds: {}, otherIds, settleMs, minEvidence };
}

/*
 * Reconciles an ambiguous trigger. Compares reads with the baseline for the whole settle time to find out whether a
 * deployment was started.
 */

/**
 * @param sent the ambiguous trigger
 * @param ambiguities how many triggers were ambiguous so far
 * @param notBeforeMs the earliest time for the next one. Reads go on until then: it must not follow a gap
 */
async function reconcile(
  deployment: Deployment,
  sent: Sent,
  ambiguities: number,
  notBeforeMs: number,
): Promise<Conclusion | Sent | 'send again'> {
  const { operation, input, reader } = deployment;
  const { intervalMs, settleMs } = input;
  const { context } = sent;
  let { seen, coverage, trace } = sent;
  operation.setPhase('reconcile');
  if (trace === null) {
    const nowMs = Date.now();
    const endsMs = Math.max(Math.max(nowMs, sent.sentMs + TIMING.post.underWayMs) + settleMs, notBeforeMs);
    const schedule = skipTo(createPollSchedule(sent.sentMs, intervalMs, { earlyMs: TIMING.poll.earlyReadsMs }), nowMs);
    const tries = Math.ceil((endsMs - schedule.originMs) / intervalMs) - schedule.lastTick;
    const notFoundAnswers = context.baseline === null;
    const afterOutage = () => void (coverage = recordOutage(coverage));
    const until = () => !hasRoomToSend();
    const plan = { what: 'trace', reader, schedule, tries, notFoundAnswers, afterOutage, until } as const;
    const polled = await pollUntil<Trace>(operation, plan, (answer, own) => {
      const answered = answer.ok || (notFoundAnswers && isNotDeployed(answer));
      if (answered) coverage = recordRead(coverage, answeredMs(answer, Date.now()), Date.now());
      if (!answer.ok) return undefined;
      noteProgress(operation.result, answer);
      seen = observe(context, seen, answer, { own, nowMs: Date.now() });
      return traceOf(context, seen, answer) ?? undefined;
    });
    const name = `${targetText(input.target)}: it is unknown whether its deployment was started`;
    if (polled.kind === 'cancelled') return conclude('cancelled', 'Cancelled', `cancelled; ${name}`);
    if (polled.kind === 'given_up') return conclude('unknown', polled.reason.type, `${name}: ${polled.reason.message}`);
    if (polled.kind === 'stopped') return conclude('unknown', 'OutcomeUnknown', `${name}: ${NO_ROOM}`);
    if (polled.kind !== 'decided') return withoutTrace(deployment, { coverage, seen }, ambiguities, name);
    trace = polled.value;
  }
  operation.result.acceptedAt = new Date().toISOString();
  operation.result.trigger.reconciledBy = trace.by;
  operation.setPhase('wait');
  return { ...sent, seen, trace };
}

function withoutTrace(
  { input }: Deployment,
  { coverage, seen }: Pick<Sent, 'coverage' | 'seen'>,
  ambiguities: number,
  name: string,
): Conclusion | 'send again' {
  const unknown = (reason: string) => conclude('unknown', 'OutcomeUnknown', `${name}: ${reason}`);
  if (seen.kept !== null)
    return unknown(`the status changed, and its answer kept the id of the deployment before; ${ID_FIELD_REMEDY}`);
  if (ambiguities > 1) return unknown('the request was sent twice, and neither attempt left a trace');
  if (input.onAmbiguous === 'stop') return unknown('the request left no trace, and the run must not send it again');
  if (hasNoGaps(coverage, input.intervalMs, Date.now())) return 'send again';
  return unknown('the request left no trace, but the status was not read for a while');
}
