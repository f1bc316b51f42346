/** Notifies people that something waits for their approval, or that it was given. */
import { workflowInfo } from '@temporalio/workflow';
import type { NotifySettings } from '../../contract/activities.ts';
import type { AskedApproval, PlannedPart } from './shapes.ts';
import { approvalNoticeId } from '../../contract/ids.ts';
import type { ApprovalNotice } from '../notifications/shapes.ts';
import { approvalSentence, factsOfPlan, fewPartLines } from './text.ts';
import type { OpenQuestion } from './rules.ts';
import { announce } from '../notifications/workflow.ts';

const SUMMARIES: Record<ApprovalNotice['about'], string> = {
  asked: 'Notify that an approval is needed',
  half_time: 'Notify again that an approval is needed',
  approved: 'Notify that it was approved',
};

/** Targets. `belay approve` shows all of them. */
const MAX_SHOWN = 20;

/** A notification that is not delivered changes nothing: `belay approvals` lists what waits. */
export async function notifyOfApproval(
  notify: NotifySettings | null,
  about: ApprovalNotice['about'],
  { plan, hash, count, asked, endsMs }: OpenQuestion,
  parts: readonly PlannedPart[],
): Promise<void> {
  if (notify === null) return;
  const { workflowId, runId, firstExecutionRunId } = workflowInfo();
  const named = plan.rules.flatMap(({ tell }) => tell ?? notify.channels);
  const until = new Date(endsMs).toISOString();
  await announce({
    notify: { ...notify, channels: notify.channels.filter((it) => named.includes(it)) },
    outcome: null,
    notification: {
      kind: 'approval',
      id: approvalNoticeId(workflowId, firstExecutionRunId, count, about),
      about,
      workflowId,
      runId,
      sentence: sentenceOf(about, { workflowId, plan: hash, asked, until }),
      text: [...factsOfPlan(plan, hash), ...fewPartLines(parts, MAX_SHOWN)].join('\n'),
      links: { ui: null },
    },
    heartbeat: undefined,
    summary: SUMMARIES[about],
  }).catch(() => undefined);
}

function sentenceOf(
  about: ApprovalNotice['about'],
  waiting: { workflowId: string; plan: string; asked: AskedApproval[]; until: string },
): string {
  if (about !== 'approved') return `${waiting.workflowId} ${approvalSentence(waiting)}`;
  const by = [...new Set(waiting.asked.flatMap((it) => it.by))].join(', ');
  return `${waiting.workflowId} was approved by ${by} and goes on`;
}
