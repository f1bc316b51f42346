/** The POST of a deployment, watched: reads go on while its answer is outstanding, so that no trace is missed. */
import { post, postSummary, POST_UNDER_WAY_MS, triggerEnd, triggerInput } from './send-trigger.ts';
import type { Deployment } from './deployment-context.ts';
import { startBeat } from '../rules/poll-schedule.ts';
import { covered, startCoverage, type Coverage } from '../rules/watch-coverage.ts';
import type { TriggerEnd } from '../rules/trigger-policy.ts';
import { look, NOTHING_SEEN, traceOf, type Question, type Seen, type Sighting } from '../rules/verdict.ts';
import { EARLY_READS_MS } from './await-verdict.ts';
import { wait } from '../polling/poll-until.ts';

export interface Sent {
  end: TriggerEnd<{ marks: string[] }>;
  sentMs: number;
  seen: Seen;
  coverage: Coverage;
  /** What showed that a deployment began, if anything did. */
  trace: Sighting | null;
}

export async function sendWatched({ operation, input, read }: Deployment, question: Question): Promise<Sent> {
  const { siteId, intervalMs } = input;
  const { trigger } = operation.result;
  const sentMs = Date.now();
  const sent: Omit<Sent, 'end'> = { sentMs, seen: NOTHING_SEEN, coverage: startCoverage(sentMs), trace: null };
  operation.enter('trigger');
  trigger.attempts += 1;
  const summary = postSummary(`deploy site ${siteId}`, trigger);
  let end: Sent['end'] | undefined;
  const answered = triggerEnd(
    post.triggerDeployment.executeWithOptions({ summary }, [{ ...triggerInput(input), siteId }]),
  ).then((it) => (end = it));
  await wait(
    operation,
    {
      what: 'trace',
      read,
      beat: startBeat(sentMs, intervalMs, EARLY_READS_MS),
      tries: Math.ceil(POST_UNDER_WAY_MS / intervalMs),
      until: () => end !== undefined,
    },
    (answer) => {
      if (answer.ok) watch(sent, question, answer);
      else if (question.baseline === null && answer.httpStatus === 404)
        sent.coverage = covered(sent.coverage, Date.now());
      return undefined;
    },
  );
  // Even when cancelled: what became of the request belongs into the result.
  await answered;
  return { ...sent, end: end ?? (await answered) };
}

function watch(sent: Omit<Sent, 'end'>, question: Question, sighting: Sighting): void {
  sent.seen = look(question, sent.seen, sighting, true);
  sent.coverage = covered(sent.coverage, Date.now());
  if (traceOf(question.baseline, sighting) !== null) sent.trace = sighting;
}
