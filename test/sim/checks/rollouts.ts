/**
 * S12: a rollout keeps its limits, starts its waves in order, and leaves no server out without a reason. Written from
 * docs/how-to/nightly-fleet.md, without the rules that the workflow uses. Pure.
 */
import { ROLLOUT_TYPE } from '../../../src/contract/names.ts';
import type { Decision, RolloutInput, RolloutResult, TargetResult } from '../../../src/features/rollouts/shapes.ts';
import type { RunResult } from '../../../src/contract/run.ts';
import { msOf } from '../../model/facts.ts';
import { resultOf } from '../plays/record.ts';
import { startInput } from '../stack/inspect.ts';
import type { Run } from '../temporal/types.ts';
import type { World } from '../world.ts';

export function unruly({ server: { runs } }: Pick<World, 'server'>): string[] {
  return runs
    .filter(({ type }) => type === ROLLOUT_TYPE)
    .flatMap((rollout) => {
      const input = startInput<RolloutInput>(rollout);
      const result = resultOf<RolloutResult>(rollout.outcome);
      const own = runs.filter(({ parent, type }) => parent?.runId === rollout.runId && type !== 'sendNotifications');
      return [
        ...(rollout.updates.length > 0 ? ['an update was not answered'] : []),
        ...startProblems(input, own),
        ...(result === null ? [] : [...limitProblems(input, result), ...resultProblems(result, own)]),
      ].map((problem) => `S12: ${problem}`);
    });
}

function startProblems({ waves, maxAtOnce }: RolloutInput, own: readonly Run[]): string[] {
  const isOpenAt = (ms: number) => (it: Run) => it.startedMs <= ms && (it.closedMs ?? Infinity) > ms;
  const waveOf = ({ workflowId }: Run) =>
    waves.findIndex(({ targets }) =>
      targets.some(({ serverId }) => workflowId.startsWith(`backup-then-deploy:${serverId}:`)),
    );
  return own.flatMap((run) => {
    const { workflowId, startedMs } = run;
    const open = own.filter(isOpenAt(startedMs));
    return [
      ...(open.length > maxAtOnce ? [`${workflowId} was started as number ${open.length} at once`] : []),
      ...(open.some((it) => waveOf(it) < waveOf(run)) ? [`${workflowId} was started before its wave`] : []),
      ...(own.some((it) => it !== run && it.workflowId === workflowId) ? [`${workflowId} was started twice`] : []),
    ];
  });
}

/** A resume accepts the failures before it. Of servers that end at one moment, no one knows which was the first. */
function limitProblems({ maxFailures }: RolloutInput, { targets, decisions }: RolloutResult): string[] {
  const ended = targets.filter(({ startedAt, endedAt }) => startedAt !== null && endedAt !== null);
  const failures = ended.filter(({ outcome }) => outcome !== 'completed').map(({ endedAt }) => msOf(endedAt));
  const isAlone = (ms: number) => ended.filter(({ endedAt }) => msOf(endedAt) === ms).length === 1;
  const newestMs = (of: readonly Decision[], beforeMs: number) =>
    Math.max(0, ...of.flatMap(({ at }) => (msOf(at) <= beforeMs ? [msOf(at)] : [])));
  const resumes = decisions.filter(isResume);
  // The release of the last held server also resumes, and accepts no failure.
  const accepting = resumes.filter((it) => !isOfRelease(it, decisions[decisions.indexOf(it) - 1]));
  const atLeast = (ms: number) =>
    failures.filter((it) => (it < ms || (it === ms && isAlone(it))) && it > newestMs(resumes, ms)).length;
  const atMost = (ms: number) => failures.filter((it) => it <= ms && it >= newestMs(accepting, ms)).length;
  const tooFar = targets.flatMap(({ serverId, startedAt }) =>
    startedAt !== null && atLeast(msOf(startedAt)) > maxFailures
      ? [`${serverId} was started after too many failures`]
      : [],
  );
  const tooSoon = decisions.flatMap(({ by, at }) =>
    by === 'maxFailures' && atMost(msOf(at)) <= maxFailures ? [`halted at ${at} after too few failures`] : [],
  );
  return [...tooFar, ...tooSoon];
}

/** That of a gate accepts no failures of servers. */
const isResume = ({ action, by }: Decision): boolean => action === 'resume' && !by.startsWith('gate:');
const isOfRelease = ({ at, by }: Decision, before: Decision | undefined): boolean =>
  before?.action === 'release' && before.at === at && before.by === by;
const isEnd = ({ action }: Decision): boolean => action === 'stop' || action === 'abort';

function resultProblems({ outcome, error, targets, decisions }: RolloutResult, own: readonly Run[]): string[] {
  const isWhole = targets.every((it) => it.outcome === 'completed');
  const isRefused = error?.type === 'NoWorker';
  return [
    ...(isWhole === (outcome === 'completed') ? [] : [`ended ${outcome}, and completed all servers: ${isWhole}`]),
    ...targets.flatMap((target) => {
      const { serverId, startedAt, heldByEvent } = target;
      if (startedAt !== null) return asItsRun(target, own) ? [] : [`${serverId} is not reported as its run ended`];
      const isExplained = isRefused || heldByEvent !== null || decisions.some(isEnd);
      return isExplained ? [] : [`${serverId} was left out`];
    }),
  ];
}

function asItsRun({ workflowId, outcome }: TargetResult, own: readonly Run[]): boolean {
  const run = own.find((it) => it.workflowId === workflowId);
  return run !== undefined && resultOf<RunResult>(run.outcome)?.outcome === outcome;
}
