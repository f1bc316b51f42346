/** Stricter than the model's judge: here only kills disturb the runs, and the service shows every deployment at once. */
import { deedsIn, factsOf, msOf, namesOf, ofKey, type Effect, type Facts } from '../model/facts.ts';
import { judge } from '../model/judge.ts';
import type { Played, PlayedRun } from '../model/record.ts';

/** @returns what is wrong */
export function problemsOf(played: Played): string[] {
  const facts = factsOf(played);
  return [
    ...judge(played).violations,
    ...repeatedPosts(facts),
    ...played.runs.flatMap((run) => wrongVerdict(facts, run) ?? []),
  ];
}

/** A second POST follows only a backup whose first one may have been lost with its worker: a backup leaves no trace. */
function repeatedPosts({ played, effects }: Facts): string[] {
  return keysOf(effects).flatMap((key) => {
    const posts = ofKey(effects, key);
    const [first, second, ...more] = posts;
    if (second === undefined) return [];
    const name = `${posts.length} POSTs with the key ${key}`;
    if (first!.kind === 'deployment') return [`${name}, of a deployment`];
    const wasKilled = played.deeds.some(({ fromMs }) => fromMs >= first!.startedMs && fromMs <= second.startedMs);
    return wasKilled && more.length === 0 ? [] : [`${name}, and no worker was killed between them`];
  });
}

/** The operations that Belay requested, each once. */
const keysOf = (effects: Effect[]) => [...new Set(effects.flatMap(({ key }) => key ?? []))];

/** An outcome is what the service says, or unknown if a worker was killed while that operation was in progress. */
function wrongVerdict(facts: Facts, run: PlayedRun): string | null {
  const { result, input, workflowId } = run;
  if (result === null) return `${workflowId} has no result`;
  const expected = expectedOutcome(facts, run);
  if (result.outcome === expected) return null;
  const parts = [...(result.backup === null ? [] : [result.backup]), ...result.deployments];
  const lost = parts.some(({ outcome, startedAt, endedAt }) => {
    return outcome === 'unknown' && deedsIn(facts, msOf(startedAt), endedAt === null ? Infinity : msOf(endedAt)) > 0;
  });
  if (result.outcome === 'unknown' && lost) return null;
  return `${workflowId} of ${input.serverId} is ${result.outcome}, not ${expected}: ${result.error?.message}`;
}

/** By the scripts of the server and the site. */
function expectedOutcome({ played: { scripts } }: Facts, run: PlayedRun): string | undefined {
  const [backup, deployment] = [run.input.serverId!, ...namesOf(run)].map((name) => scripts[name]?.at(-1)?.ends);
  return backup === 'completed' ? deployment : backup;
}

/** @param answerMs how long the service takes to answer a POST */
export function figuresOf(played: Played, answerMs: number): Record<string, number> {
  const { effects, triggers } = factsOf(played);
  const withOutcome = (wanted: string) => played.runs.filter(({ result }) => result?.outcome === wanted).length;
  const parts = played.runs.flatMap(({ result }) => [result?.backup ?? [], result?.deployments ?? []].flat());
  const inProgress = (fromMs: number) =>
    triggers.filter(({ at }) => msOf(at) <= fromMs && fromMs < msOf(at) + answerMs).length;
  return {
    runs: played.runs.length,
    ...Object.fromEntries(['completed', 'failed', 'unknown'].map((outcome) => [outcome, withOutcome(outcome)])),
    kills: played.deeds.length,
    'requests in progress at a kill': played.deeds.reduce((sum, { fromMs }) => sum + inProgress(fromMs), 0),
    'ambiguous requests': parts.filter(({ trigger }) => trigger?.ambiguous === true).length,
    'backups made twice': triggers.length - keysOf(effects).length,
    'requests in all': played.journal.length,
  };
}
