/** An ambiguous trigger: was a deployment started? Looked for against the baseline for the whole settle time. */
import { followed, type Deployment } from './deployment-context.ts';
import { ended, type End } from '../common/conclusion.ts';
import { skipTo, startBeat } from '../rules/poll-schedule.ts';
import { covered, watched, type Coverage } from '../rules/watch-coverage.ts';
import { look, traceOf, type Question, type Sighting } from '../rules/verdict.ts';
import type { Sent } from './send-and-watch.ts';
import { POST_UNDER_WAY_MS } from './send-trigger.ts';
import { EARLY_READS_MS, followDeployment } from './await-verdict.ts';
import { wait } from '../polling/poll-until.ts';

/** @param sent the ambiguous trigger, and how many there were with it */
export async function reconcile(
  deployment: Deployment,
  question: Question,
  sent: Sent & { ambiguities: number },
): Promise<End | 'send again'> {
  const { operation, input, read } = deployment;
  const { intervalMs, settleMs } = input;
  let { seen, coverage, trace } = sent;
  operation.enter('reconcile');
  if (trace === null) {
    const nowMs = Date.now();
    const endsMs = Math.max(nowMs, sent.sentMs + POST_UNDER_WAY_MS) + settleMs;
    const beat = skipTo(startBeat(sent.sentMs, intervalMs, EARLY_READS_MS), nowMs);
    const tries = Math.ceil((endsMs - beat.originMs) / intervalMs) - beat.lastSlot;
    const plan = { what: 'trace', read, beat, tries, notFoundAnswers: question.baseline === null } as const;
    const end = await wait<Sighting>(operation, plan, (answer, own) => {
      const answered = answer.ok || (plan.notFoundAnswers && answer.httpStatus === 404);
      if (answered) coverage = covered(coverage, Date.now());
      if (!answer.ok) return undefined;
      seen = look(question, seen, answer, own);
      return traceOf(question.baseline, answer) === null ? undefined : answer;
    });
    const name = `site ${input.siteId}: whether its deployment was started is not known`;
    if (end.end === 'cancelled') return ended('cancelled', 'Cancelled', `cancelled; ${name}`);
    if (end.end === 'given_up') return ended('unknown', end.reason.type, `${name}: ${end.reason.message}`);
    if (end.end !== 'judged') return withoutTrace(deployment, coverage, sent.ambiguities, name);
    trace = end.value;
  }
  operation.result.trigger.reconciledBy = traceOf(question.baseline, trace);
  operation.enter('wait');
  return followDeployment(followed(deployment), { ...question, acceptedMs: Date.now() }, { seen, sighting: trace });
}

function withoutTrace(
  { input }: Deployment,
  coverage: Coverage,
  ambiguities: number,
  name: string,
): End | 'send again' {
  const unknown = (why: string) => ended('unknown', 'OutcomeUnknown', `${name}: ${why}`);
  if (ambiguities > 1) return unknown('the request was sent twice, and neither left a trace');
  if (input.onAmbiguous === 'stop') return unknown('the request left no trace, and was not to be sent again');
  if (watched(coverage, input.intervalMs, Date.now())) return 'send again';
  return unknown('the request left no trace, but nobody watched for a while');
}
