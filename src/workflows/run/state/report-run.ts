/** Starts the workflow that reports how a run stands, and signals each change to it. */
import { getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { NotifySettings, WorkerInfo } from '../../../contract/activities.ts';
import { reportId } from '../../../contract/ids/workflow-ids.ts';
import { SIGNALS } from '../../../contract/names.ts';
import type { ReportInput, RunState as ReportedRun } from '../../../contract/report.ts';
import { statesOf } from '../../../rules/reported-state.ts';
import { notificationStaticDetails } from '../../../request/start/other-details.ts';
import { startOnce } from '../../common/start-once.ts';
import { linkToThis } from '../../common/ui-details.ts';
import type { RunState } from './run-state.ts';

export interface RunReport {
  /** Lets it know how the run stands, if that has changed. Resolves once Temporal has taken it. */
  update(): Promise<void>;
}

/** @param facts what the worker answered when the run began. @returns null if no place wants reports of it */
export async function startReport(run: RunState, facts: Pick<WorkerInfo, 'reports'>): Promise<RunReport | null> {
  const places = facts.reports ?? [];
  const heartbeat = measuredHeartbeat(run.input.heartbeat, run.notify);
  if (places.length === 0 && heartbeat === null) return null;
  const { workflowId, firstExecutionRunId: firstRunId } = workflowInfo();
  const id = reportId(workflowId, firstRunId);
  const handle = getExternalWorkflowHandle(id);
  let seq = 0;
  let known = stateNow(run, seq);
  const begun = { workflowId, firstRunId, heartbeat, places, commit: run.plan.commit ?? null, state: known };
  const names = places.map((it) => it.report);
  await startOnce<ReportInput>('report', {
    workflowId: id,
    staticSummary: 'Report how the run stands',
    staticDetails: notificationStaticDetails(linkToThis(), names, heartbeat),
    input: begun,
  });
  return {
    async update() {
      seq += 1;
      const now = stateNow(run, seq);
      if (isSame(now, known)) return;
      known = now;
      // One that was terminated or has ended reports no more.
      await handle.signal(SIGNALS.reported, now).catch(() => undefined);
    },
  };
}

export const measuredHeartbeat = (name: string | undefined, notify: NotifySettings | null): string | null =>
  name !== undefined && notify?.measured?.includes(name) === true ? name : null;

const stateNow = ({ result }: RunState, seq: number): ReportedRun => ({
  ...statesOf(result),
  ...{ atMs: Date.now(), seq, isEnd: result.phase === 'done' },
});

const isSame = (one: ReportedRun, other: ReportedRun): boolean =>
  JSON.stringify([one.isEnd, one.run, one.parts]) === JSON.stringify([other.isEnd, other.run, other.parts]);
