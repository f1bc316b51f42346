/**
 * What a pooled wait does with a read. It keeps those that decide nothing: the status is in progress, or the read failed
 * and is to be made again. The first other one belongs to the workflow. Pure: times are milliseconds since 1970.
 */
import type { DeploymentIds, ReadResult } from '../contract/activities.ts';
import { definedFields } from '../contract/plain-object.ts';
import type { PollState } from '../contract/polling.ts';
import type { PooledProgress } from '../contract/pooled-wait.ts';
import { afterPoll } from './poll-schedule.ts';
import { afterRead, nextRead, type ReadAt } from './poll-state.ts';

/** @param ids those of the last answer */
export const beginPooled = (state: PollState, lastStatus: string | null, ids?: DeploymentIds): PooledProgress => ({
  state,
  polls: 0,
  lastStatus,
  ...definedFields({ ids }),
  lastReadAt: null,
  isLeftToOthers: false,
});

/** @returns null if the workflow has to decide what the read means */
export function absorb(tries: number, before: PooledProgress, read: ReadResult, at: ReadAt): PooledProgress | null {
  if (read.ok && (read.state !== 'in_progress' || !isSameText(read.ids, before.ids))) return null;
  const { state, end } = afterRead({ tries }, before.state, read, at);
  if (end !== null) return null;
  if (!read.ok) return { ...before, state, isLeftToOthers: false };
  const lastReadAt = new Date(at.nowMs).toISOString();
  return { ...before, state, polls: before.polls + 1, lastStatus: read.status, lastReadAt, isLeftToOthers: false };
}

/** Answers of one service have their fields in one order. If not, the workflow decides. */
const isSameText = (one: DeploymentIds = {}, other: DeploymentIds = {}): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Whether another worker is to make the read before it counts. */
export const isForOthers = (before: PooledProgress, read: ReadResult): boolean =>
  !read.ok && read.ofThisWorker === true && !before.isLeftToOthers;

/** As if every read that was due by now had been answered: for a wait whose worker cannot be asked. */
export function assumeMade({ state, ...before }: PooledProgress, tries: number, nowMs: number): PooledProgress {
  let { polls } = before;
  let [schedule, made] = [state.schedule, state.made];
  for (;;) {
    const due = nextRead({ ...state, schedule });
    if (due.atMs > nowMs || made >= tries) return { ...before, state: { ...state, schedule, made }, polls };
    schedule = afterPoll(schedule, due.atMs, due.isTry);
    polls += 1;
    if (due.isTry) made += 1;
  }
}
