/**
 * Reconciles an ambiguous trigger. Compares reads with the baseline for the whole settle time to find out whether a
 * deployment was started.
 */
import type { Deployment } from './deployment-context.ts';
import { targetText } from '../../contract/target-text.ts';
import { conclude, type Conclusion } from '../conclusion.ts';
import { skipTo, createPollSchedule } from '../../rules/poll-schedule.ts';
import { answeredMs, recordOutage, recordRead, hasNoGaps } from '../../rules/watch-coverage.ts';
import { observe, traceOf, type Trace } from '../../rules/verdict.ts';
import type { Sent } from './send-and-watch.ts';
import { ID_FIELD_REMEDY } from './await-verdict.ts';
import { noteProgress } from '../polling/poller.ts';
import { pollUntil } from '../polling/poll-until.ts';
import { isNotDeployed } from '../../rules/never-deployed.ts';
import { TIMING } from '../../contract/timing.ts';

/**
 * @param sent the ambiguous trigger
 * @param ambiguities how many triggers were ambiguous so far
 * @param notBeforeMs the earliest time for the next one. Reads go on until then: it must not follow a gap
 */
export async function reconcile(
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
    const plan = { what: 'trace', reader, schedule, tries, notFoundAnswers, afterOutage } as const;
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
