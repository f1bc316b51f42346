/**
 * S4: an operation counts its tries, reads nothing after the last one, and makes at most one hinted read per second.
 * S6: its history stays in its budget. Pure.
 */
import { HISTORY_BUDGET } from '../../../src/contract/history-budget.ts';
import { isPost } from '../../support/post-activities.ts';
import { startInput } from '../stack/inspect.ts';
import { isOperation, type Run } from '../temporal/types.ts';
import type { World } from '../world.ts';
import { recordedSiteReads } from './recorded-site-reads.ts';
import { recordedReads, type RecordedRead } from './recorded-reads.ts';

const HINT_GAP_MS = 1_000;
/** By Temporal, of one execution. */
const SIGNAL_LIMIT = 10_000;
const EVENTS_PER_SIGNAL = 4;
/** Events of an operation besides its reads and signals: its release, and tasks that were lost. */
const OTHER_EVENTS = 200;

export function overBudget({ server: { runs } }: Pick<World, 'server'>): string[] {
  return runs.filter(isOperation).flatMap((run) => {
    const reads = recordedReads(run);
    const problems = [...tryProblems(run, reads), ...hintProblems(run, reads)];
    return problems.map((problem) => `S4: ${run.workflowId} ${problem}`);
  });
}

function tryProblems(run: Run, reads: RecordedRead[]): string[] {
  const tries = Math.max(1, startInput<{ tries: number }>(run).tries);
  const waited = reads.filter(({ stage }) => stage === 'wait');
  const answered = waited.flatMap(({ attempt, answer, id }) =>
    attempt !== null && answer?.ok ? [{ ...attempt, id }] : [],
  );
  const last = answered.find(({ number }) => number === tries);
  // One that another worker makes in place of a hinted read was due when that one was.
  const due = (it: RecordedRead, index: number) =>
    (it.isSecond && waited.slice(0, index).findLast(({ isPooled, isSecond }) => !isPooled && !isSecond)) || it;
  const isLate = (it: RecordedRead, index: number) =>
    last !== undefined && it.id > last.id && !(it.isHinted && isAskedWithout(run, last, due(it, index)));
  const after = waited.filter(isLate);
  return [
    ...answered.flatMap(({ number }, index) =>
      number === index + 1 ? [] : [`made try ${number} as answer ${index + 1}`],
    ),
    ...waited.flatMap(({ attempt }) =>
      attempt === null || attempt.of === tries ? [] : [`has ${attempt.of} tries, not ${tries}`],
    ),
    ...(after.length > 0 ? [`read the status ${after.length} times after its last try`] : []),
  ];
}

/** Whether no task before that of a read knew of the last try, which a pool may make meanwhile. A task takes a hint before an answer. */
function isAskedWithout({ history }: Run, last: { id: number }, { taskId }: RecordedRead): boolean {
  const first = history.find(({ kind, id }) => kind === 'taskCompleted' && id > last.id);
  return first === undefined || taskId <= first.id;
}

function hintProblems(run: Run, reads: RecordedRead[]): string[] {
  const hinted = reads.filter(({ isHinted, isSecond }) => isHinted && !isSecond);
  // Beside a pool, one that failed is made again at the interval: a claim counts only with an answered read after it.
  const isAgain = (index: number) => index > 0 && hinted[index - 1]!.answer?.ok !== true;
  const counted = hinted.filter((_, index) => !isAgain(index)).length;
  const most = Math.min(2 * startInput<{ tries: number }>(run).tries, HISTORY_BUDGET.maxHintedReads);
  const dense = hinted.some((first, index) =>
    hinted.slice(index + 1).some(({ began }, more) => began.toMs - first.began.fromMs < (more + 1) * HINT_GAP_MS),
  );
  return [
    ...(dense ? ['made hinted reads within a second'] : []),
    ...(counted > most ? [`made ${counted} hinted reads`] : []),
  ];
}

export function overlong({ server: { runs } }: Pick<World, 'server'>): string[] {
  return runs.flatMap((run) => {
    const { workflowId, history, signals } = run;
    const found = history.length > HISTORY_BUDGET.maxEvents ? [`S6: ${workflowId} has ${history.length} events`] : [];
    if (signals > SIGNAL_LIMIT) found.push(`S6: ${workflowId} was sent ${signals} signals`);
    if (!isOperation(run)) return found;
    const all = recordedReads(run);
    const seconds = all.filter(({ isSecond }) => isSecond).length;
    const reads = all.length - seconds;
    const siteReads = recordedSiteReads(run).length;
    const requests = history.filter((it) => it.kind === 'activityClosed' && isPost({ name: it.type })).length;
    const { eventsPerRead, eventsPerSecondRead, eventsPerRequest } = HISTORY_BUDGET;
    const budget =
      eventsPerRead * (reads + siteReads) +
      eventsPerSecondRead * seconds +
      eventsPerRequest * requests +
      EVENTS_PER_SIGNAL * signals +
      OTHER_EVENTS;
    if (history.length > budget) {
      const counts = `${reads} reads, ${requests} requests and ${signals} signals`;
      found.push(`S6: ${workflowId} has ${history.length} events for ${counts}`);
    }
    return found;
  });
}
