/** The status reads in a history, as the workflow saw them: with their place in its polling, and their answers. */
import { defaultPayloadConverter as payloads, type Payload } from '@temporalio/common';
import type { ReadAnswer } from '../../../src/contract/activities.ts';
import type { HistoryEvent, Outcome } from '../core/events.ts';
import { definedFields } from '../../../src/contract/plain-object.ts';
import { POOLED_WAIT_ACTIVITY } from '../../../src/contract/names.ts';
import type { PooledProgress, PooledWait, PooledWaitEnd } from '../../../src/contract/polling.ts';
import type { Run } from '../temporal/types.ts';

export interface RecordedRead {
  /** The event of its answer. */
  id: number;
  /** The event of the task that asked for it. */
  taskId: number;
  /** Of the workflow's own time when it began, the earliest and the latest. */
  began: { fromMs: number; toMs: number };
  stage: 'baseline' | 'trace' | 'wait';
  /** The number of this try, and of how many; null for a read that uses up no try. */
  attempt: { number: number; of: number } | null;
  isHinted: boolean;
  /** Null if its worker did not finish it. */
  answer: ReadAnswer | null;
  /** Whether it is made in place of one that failed. */
  isSecond: boolean;
  /** Whether a worker made it in a pooled wait. */
  isPooled: boolean;
}

const READS = ['readLatestDeployment', 'readBackup'];

export function recordedReads({ history }: Pick<Run, 'history'>): RecordedRead[] {
  const reads: RecordedRead[] = [];
  for (const event of history) {
    if (event.kind === 'activityClosed' && event.type === POOLED_WAIT_ACTIVITY)
      reads.push(...pooledReads(event, history[event.scheduledId - 1]!));
    if (event.kind !== 'activityClosed' || !READS.includes(event.type)) continue;
    const scheduled = history[event.scheduledId - 1]!;
    if (scheduled.kind !== 'activityScheduled') continue;
    const began = { fromMs: taskStartedMs(history, scheduled.taskId), toMs: scheduled.atMs };
    const before = reads.findLast(({ isPooled }) => !isPooled);
    const isSecond = before !== undefined && !before.isSecond && needsSecond(before);
    const { taskId } = scheduled;
    reads.push({ ...read(event, scheduled.summary, event.outcome), taskId, began, isSecond, isPooled: false });
  }
  return reads;
}

type Closed = Extract<HistoryEvent, { kind: 'activityClosed' }>;

/** Those of a pooled wait, as far as the worker that made them reported them. */
function pooledReads(event: Closed, scheduled: HistoryEvent): RecordedRead[] {
  if (scheduled.kind !== 'activityScheduled') throw new Error('an activity that closes was scheduled');
  const { taskId } = scheduled;
  const { tries, progress: first } = payloads.fromPayload<PooledWait>(scheduled.input[0]!);
  const end = 'result' in event.outcome ? payloads.fromPayload<PooledWaitEnd>(event.outcome.result!) : null;
  const { state, polls, lastStatus, ids } = end?.progress ?? lastProgress(event.outcome) ?? first;
  const began = { fromMs: scheduled.atMs, toMs: event.atMs };
  const common = {
    id: event.id,
    taskId,
    began,
    stage: 'wait',
    isHinted: false,
    isSecond: false,
    isPooled: true,
  } as const;
  const extra = polls - (state.made - first.state.made);
  const answered = Array.from({ length: polls }, (_, index) => ({
    ...common,
    attempt: index < extra ? null : { number: first.state.made + index - extra + 1, of: tries },
    answer: { ok: true as const, status: lastStatus!, ...definedFields({ ids }) },
  }));
  const failed = Array.from({ length: state.failed.inARow }, () => ({ ...common, attempt: null, answer: null }));
  if (end === null) return [...answered, ...failed];
  const attempt = end.isTry ? { number: state.made + 1, of: tries } : null;
  return [...answered, ...failed, { ...common, attempt, answer: end.read }];
}

function lastProgress(outcome: Outcome): PooledProgress | null {
  const details = 'failure' in outcome ? outcome.failure.timeoutFailureInfo?.lastHeartbeatDetails?.payloads : null;
  return details?.[0] ? payloads.fromPayload<PooledProgress>(details[0]) : null;
}

/** A failure that may be due to its worker. */
const needsSecond = ({ answer }: RecordedRead): boolean =>
  answer === null || (!answer.ok && answer.ofThisWorker === true);

function read({ id }: HistoryEvent, summary: Payload | null, outcome: Outcome) {
  const text = summary === null ? '' : payloads.fromPayload<string>(summary);
  const stage = (/^(baseline|trace): /.exec(text)?.[1] ?? 'wait') as RecordedRead['stage'];
  const tries = /read (\d+) of (\d+)/.exec(text);
  const attempt = tries === null ? null : { number: Number(tries[1]), of: Number(tries[2]) };
  const isAnswered = 'result' in outcome && outcome.result !== null;
  const answer = isAnswered ? payloads.fromPayload<ReadAnswer>(outcome.result!) : null;
  return { id, stage, attempt, isHinted: text.includes('hinted read'), answer };
}

function taskStartedMs(history: HistoryEvent[], taskId: number): number {
  const completed = history[taskId - 1];
  if (completed?.kind !== 'taskCompleted') throw new Error('a command has a task');
  return history[completed.startedId - 1]!.atMs;
}
