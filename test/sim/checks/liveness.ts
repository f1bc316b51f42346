/**
 * S8: once nothing goes wrong with Temporal and its workers, every execution closes within the sum of its budgets,
 * whatever the service answers.
 */
import { TIMING } from '../../../src/contract/timing.ts';
import { CHECK } from '../../model/gate-draws.ts';
import { namesOf, planFor } from '../../model/facts.ts';
import type { PlayedRun } from '../../model/record.ts';
import type { Play } from '../plays/play.ts';
import { isOperation, type Run } from '../temporal/types.ts';

const MINUTE = 60_000;
/** Slow answers, tasks that time out, and workers that start again. */
const SLACK_MS = 3 * MINUTE;
/** Requests that had no effect, in doubt or in conflict. Before each of them is a baseline or a search for a trace. */
const ROUNDS = 7;

type Budgets = ReturnType<typeof planFor>;

export function overdue({ played, world: { server, calmMs, clock } }: Play): string[] {
  const byId = new Map(played.runs.map((run) => [run.runId, run]));
  return server.runs.flatMap((run) => {
    const owner = byId.get(run.runId) ?? byId.get(run.parent?.runId ?? '');
    if (owner === undefined) return [];
    const fromMs = Math.max(run.startedMs, calmMs ?? Infinity);
    const tookMs = (run.closedMs ?? clock.nowMs) - fromMs;
    const boundMs = boundOf(run, owner);
    return tookMs <= boundMs ? [] : [`S8: ${run.workflowId} took ${tookMs} ms, and its budgets are ${boundMs} ms`];
  });
}

function boundOf(run: Run, owner: PlayedRun): number {
  const plan = planFor(owner);
  if (run.type === 'backupServer') return backupMs(plan);
  if (isOperation(run)) return deploymentMs(plan);
  return run.runId === owner.runId ? runMs(plan, owner) : SLACK_MS;
}

function runMs(plan: Budgets, owner: PlayedRun): number {
  const lockMs = plan.ifBusy === 'fail' ? 0 : plan.busyTimeoutMs;
  const { backup } = plan;
  // A shared backup that has not completed is awaited with the run's own tries.
  const backUpMs = owner.type === 'deployOnly' ? 0 : plan.busyTimeoutMs + backupMs(plan) + pollMs(backup) + SLACK_MS;
  const onceMs = backUpMs + namesOf(owner).length * (lockMs + deploymentMs(plan));
  // After each wait for a freeze, the run goes on with a part that it had begun.
  const waits = owner.result?.held?.filter(({ end }) => end !== 'overridden').length ?? 0;
  const thawMs = plan.ifFrozen === 'wait' ? plan.freezeWaitMs + waits * SLACK_MS : 0;
  return SLACK_MS + thawMs + (1 + waits) * onceMs;
}

/** If the site has one: its scale is that of the intervals, which it does not exceed tenfold. */
const checkMs = ({ deploy }: Budgets): number =>
  2 * CHECK.tries * (CHECK.intervalMs + 10 * deploy.intervalMs + TIMING.read.activityMs);

function backupMs({ backup, outageBudgetMs }: Budgets): number {
  const sendMs = 2 * backup.tries * backup.intervalMs + ROUNDS * TIMING.post.underWayMs;
  return sendMs + pollMs(backup) + (outageBudgetMs ?? 0) + SLACK_MS;
}

function deploymentMs(plan: Budgets): number {
  const { deploy, outageBudgetMs } = plan;
  const { intervalMs, tries, baselineWaitMs, settleMs } = deploy;
  const baselinesMs = baselineWaitMs + ROUNDS * pollMs({ intervalMs, tries: 0 });
  const sendMs = tries * intervalMs + ROUNDS * (TIMING.post.underWayMs + settleMs + pollMs({ intervalMs, tries: 0 }));
  return baselinesMs + sendMs + pollMs(deploy) + (outageBudgetMs ?? 0) + checkMs(plan) + SLACK_MS;
}

const pollMs = ({ intervalMs, tries }: { intervalMs: number; tries: number }): number =>
  Math.max((tries + 2) * intervalMs, TIMING.poll.minWholeMs);
