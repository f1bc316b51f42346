/** Observers of runs and rollouts: the places of reports, and the channels and heartbeats that learn of their ends. */
import { getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { NotifySettings } from '../../contract/activities.ts';
import { factOf } from '../../contract/facts.ts';
import { reportId, ROLLOUT_PREFIX, rolloutPauseId, runEndId } from '../../contract/ids.ts';
import { SIGNALS } from '../../contract/names.ts';
import { REPORTS_FACT, type ReportInput, type ReportedRun, type StateReport } from './shapes.ts';
import { worstFirst } from '../../contract/results.ts';
import type { RunMemo, RunResult } from '../../contract/run.ts';
import { statesOf } from './rules.ts';
import { startOnce } from '../../workflows/children.ts';
import { linkToThis } from '../../workflows/ui.ts';
import type { Observer } from '../../workflows/run/hooks.ts';
import type { RunState } from '../../workflows/run/run-state.ts';
import type { RolloutHook, RolloutState } from '../rollouts/hooks.ts';
import type { RolloutResult } from '../rollouts/shapes.ts';
import { failsSchedule } from '../schedules/shapes.ts';
import { announce, notificationStaticDetails } from '../../workflows/announce.ts';

/** Starts a separate workflow that reports the state of the run. The run signals each change to it. */
export function reporting(run: RunState): Observer {
  const { facts, input, plan, result } = run;
  const places = factOf(facts, REPORTS_FACT) ?? [];
  const heartbeat = measuredHeartbeat(input.heartbeat, facts.notify);
  if (places.length === 0 && heartbeat === null) return {};
  const { workflowId, firstExecutionRunId: firstRunId } = workflowInfo();
  const id = reportId(workflowId, firstRunId);
  /** Counts the signals, which may arrive in another order. */
  let seq = 0;
  let known: ReportedRun | null = null;

  const stateNow = (): ReportedRun => ({
    ...statesOf(result),
    atMs: Date.now(),
    seq,
    isEnd: result.phase === 'done',
  });

  /** Resolves once Temporal has taken the signal. */
  async function update(): Promise<void> {
    if (known === null) return;
    seq += 1;
    const now = stateNow();
    const parts = partsChanged(known, now);
    const isNews = now.isEnd !== known.isEnd || isOther(now.run, known.run) || Object.keys(parts).length > 0;
    if (!isNews) return;
    known = now;
    const signal = now.isEnd ? now : { ...now, parts };
    // A report that was terminated or has ended takes no more signals.
    await getExternalWorkflowHandle(id)
      .signal(SIGNALS.reported, signal)
      .catch(() => undefined);
  }

  return {
    async begun() {
      const state = stateNow();
      const names = places.map((it) => it.report);
      await startOnce<ReportInput>('report', {
        workflowId: id,
        staticSummary: 'Report how the run stands',
        staticDetails: notificationStaticDetails(linkToThis(), names, heartbeat),
        input: { workflowId, firstRunId, heartbeat, places, commit: plan.commit, state },
      });
      known = state;
    },
    moved() {
      // `ended` reports the end, because it waits until Temporal has taken the signal.
      if (result.phase !== 'done') void update();
    },
    ended: update,
  };
}

const measuredHeartbeat = (name: string | undefined, notify: NotifySettings | undefined): string | null =>
  name !== undefined && notify?.measured?.includes(name) === true ? name : null;

const partsChanged = (before: ReportedRun, now: ReportedRun): ReportedRun['parts'] =>
  Object.fromEntries(Object.entries(now.parts).filter(([id, part]) => isOther(part, before.parts[id])));

const isOther = (one: StateReport, other: StateReport | undefined): boolean =>
  one.state !== other?.state || one.text !== other.text;

/** Chat messages are limited in size, so a notification lists this many parts, unfinished ones first. */
const MAX_PARTS = 50;

export const announcing = ({ facts: { notify }, result, input }: RunState): Observer => ({
  async ended() {
    const { workflowId, firstExecutionRunId, parent } = workflowInfo();
    // A rollout sends one notification for all of its runs.
    if (parent?.workflowId.startsWith(ROLLOUT_PREFIX) === true) return;
    const { outcome, deployments } = result;
    const listed = worstFirst(deployments).slice(0, MAX_PARTS);
    const shortened: RunResult = { ...result, deployments: listed };
    const id = runEndId(workflowId, firstExecutionRunId);
    await announce({
      notify: notify ?? null,
      outcome,
      notification: {
        kind: 'run',
        id,
        result: shortened,
        leftOut: deployments.length - listed.length,
        ...schedulePausedBy(result),
      },
      // A measured heartbeat hears of start and end from the report of the run. A rollout has none.
      heartbeat: measuredHeartbeat(input.heartbeat, notify) === null ? input.heartbeat : undefined,
      summary: `Notify that a run ended: ${outcome ?? 'Internal'}`,
    });
  },
});

export function announcingRollout({ facts: { notify }, result, input }: RolloutState): RolloutHook {
  const { workflowId, firstExecutionRunId } = workflowInfo();

  async function tell(id: string, summary: string, schedule: { pausesSchedule?: string }): Promise<void> {
    const { outcome, targets } = result;
    const listed = worstFirst(targets)
      .slice(0, MAX_PARTS)
      .map((target) => ({ ...target, deployments: [] }));
    const shortened: RolloutResult = { ...result, targets: listed, decisions: result.decisions.slice(-3) };
    const leftOut = targets.length - listed.length;
    await announce({
      notify: notify ?? null,
      outcome,
      notification: { kind: 'rollout', id, result: shortened, leftOut, ...schedule },
      heartbeat: input.heartbeat,
      summary,
    });
  }

  return {
    paused() {
      const pauses = result.decisions.filter((decision) => decision.action === 'pause').length;
      const id = rolloutPauseId(workflowId, firstExecutionRunId, pauses);
      // If the notification fails, the list of rollouts still shows the pause.
      tell(id, 'Notify that a rollout is paused', {}).catch(() => undefined);
    },
    ended: () =>
      tell(
        runEndId(workflowId, firstExecutionRunId),
        `Notify that a rollout ended: ${result.outcome ?? 'Internal'}`,
        schedulePausedBy(result),
      ),
  };
}

/** Names the schedule that Temporal pauses because of this end, if there is one. */
function schedulePausedBy({ error }: Pick<RunResult, 'error'>): { pausesSchedule?: string } {
  const { pausesSchedule } = (workflowInfo().memo ?? {}) as Partial<RunMemo>;
  return failsSchedule(error) && pausesSchedule !== undefined ? { pausesSchedule } : {};
}
