/** S3: between a request that may have had an effect and the next one, the status is read without a gap. Pure. */
import { cite, deployKey, factsOf, msOf, namesOf, planFor, readsOf } from '../../model/facts.ts';
import type { Played } from '../../model/record.ts';

/** A read may be slow, and a request is sent a while after it was decided. */
const SLACK_MS = 5_000 + 5_000 + 5_000;
const LEAVES_IN_DOUBT = ['none', 'cut', 'reset', 'body', 'redirect'];

export function unreadGaps(played: Played): string[] {
  const facts = factsOf(played);
  return played.runs.flatMap((run) =>
    namesOf(run).flatMap((target) => {
      const sent = facts.triggers.filter(({ idempotencyKey }) => idempotencyKey === deployKey(run, target));
      const inDoubt = sent.findIndex(({ fault }) => fault !== null && LEAVES_IN_DOUBT.includes(fault));
      if (inDoubt === -1) return [];
      const longestMs = planFor(run).deploy.intervalMs + SLACK_MS;
      return sent.slice(inDoubt + 1).flatMap((next, index) => {
        const [fromMs, toMs] = [msOf(sent[inDoubt + index]!.at), msOf(next.at)];
        const answered = readsOf(facts, target, fromMs, toMs).filter(({ answers }) => answers);
        const times = [fromMs, ...answered.map(({ atMs }) => atMs), toMs];
        const gapMs = Math.max(...times.slice(1).map((ms, at) => ms - times[at]!));
        return gapMs <= longestMs ? [] : [`S3: ${target} was not read for ${gapMs} ms before ${cite(next)}`];
      });
    }),
  );
}
