/** What no run may do that people approve, or that a newer one replaces. Pure. */
import type { RunInput, RunResult } from '../../../src/contract/run.ts';
import { startInput } from '../stack/inspect.ts';
import { resultOf } from '../plays/record.ts';
import type { Run } from '../temporal/types.ts';
import type { World } from '../world.ts';

type Judged = Pick<World, 'service' | 'server'>;

export const misruled = (world: Judged, runs: readonly Run[]): string[] =>
  runs.flatMap((run) => {
    const result = resultOf<RunResult>(run.outcome);
    if (run.closedMs === null || result === null) return [`${run.workflowId} did not end`];
    const found = [...unapproved(world, run, result), ...wronglyReplaced(world, run, result, runs)];
    return found.map((it) => `${run.workflowId} ${it}`);
  });

/** Its requests for deployments and backups, in their order. */
const requestsOf = ({ service }: Judged, { runId }: Run) =>
  service.state.journal.filter(({ idempotencyKey }) => idempotencyKey?.startsWith(`${runId}:`) === true);

/** It asked for an approval, and the answer was no, or none, or came later than its first request. */
function unapproved(world: Judged, run: Run, { held, outcome, error }: RunResult): string[] {
  const { approval } = startInput<RunInput>(run);
  if (approval === undefined) return [];
  const [first] = requestsOf(world, run);
  const [asked] = held.filter((it) => it.for === 'approval');
  if (asked === undefined) return first === undefined ? [] : ['was sent without a question'];
  const ends = { approved: null, rejected: 'ApprovalRejected', gave_up: 'ApprovalExpired', cancelled: 'Superseded' };
  const expected = ends[asked.end as keyof typeof ends];
  if (expected !== null && error?.type !== expected) return [`ends ${error?.type ?? outcome} after ${asked.end}`];
  if (first === undefined) return [];
  if (asked.end !== 'approved') return [`was sent, and the question ended as ${asked.end}`];
  return first.at < asked.to! ? ['was sent before its approval'] : [];
}

/** Only one that has requested no deployment may be replaced, and only by a newer one with all of its sites. */
function wronglyReplaced(world: Judged, run: Run, { error, supersededBy }: RunResult, runs: readonly Run[]): string[] {
  if (error?.type !== 'Superseded') return supersededBy === null ? [] : ['was replaced, and does not say so'];
  const newer = runs.find(({ workflowId }) => workflowId === supersededBy?.workflowId);
  if (newer === undefined) return ['was replaced by no run'];
  const [own, its] = [run, newer].map((it) => startInput<RunInput>(it));
  const isCovered = own!.siteIds!.every((site) => its!.siteIds!.includes(site)) && own!.serverId === its!.serverId;
  const deployed = requestsOf(world, run).filter(({ request }) => request.includes('/deploy'));
  return [
    ...(its!.supersede === true ? [] : ['was replaced by a run that replaces none']),
    ...(newer.startedMs >= run.startedMs ? [] : ['was replaced by an older run']),
    ...(isCovered ? [] : ['was replaced by a run that does not do all that it was to do']),
    ...(deployed.length === 0 ? [] : ['was replaced after its request']),
  ];
}
