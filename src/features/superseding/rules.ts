/** Decides which runs a newer run replaces. This only saves work: the locks alone keep runs correct. Pure. */
import type { Waiter } from '../../contract/operation.ts';
import type { NewerRun, RunWork } from './shapes.ts';
import { isSameTarget, type Target } from '../../contract/target.ts';
import { isRecord } from '../../contract/plain-object.ts';
import { namesRun, workIn } from '../../rules/wait-queue.ts';

export interface JudgedRun {
  runId: string;
  work: RunWork;
}

/** True if the newer run does all that the older one is to do, and the older one has not begun. */
export function supersedes(newer: JudgedRun, older: JudgedRun): boolean {
  return (
    newer.work.supersedes &&
    !older.work.hasBegun &&
    newer.work.type === older.work.type &&
    [null, newer.work.service].includes(older.work.service) &&
    isYounger(newer, older) &&
    covers(newer.work, older.work)
  );
}

type Part = Pick<RunWork, 'serverId' | 'targets'>;

export const covers = (whole: Part, part: Part): boolean =>
  whole.serverId === part.serverId && part.targets.every((target) => includes(whole.targets, target));

const includes = (targets: readonly Target[], target: Target): boolean =>
  targets.some((it) => isSameTarget(it, target));

/** Compares the starts, because a freeze may change the order in which runs ask for a lock. */
function isYounger(a: JudgedRun, b: JudgedRun): boolean {
  if (a.work.startedAt !== b.work.startedAt) return a.work.startedAt > b.work.startedAt;
  return a.runId > b.runId;
}

export interface Settled {
  queue: Waiter[];
  superseded: { older: Waiter; newer: NewerRun }[];
  replacesHolder: NewerRun | null;
}

/**
 * Removes the waiters that a newer waiter replaces.
 *
 * @param holder the run that holds the lock; null if it takes no part
 * @returns a queue in which the newer run has the place of the oldest run that it replaces
 */
export function settleQueue(queue: readonly Waiter[], holder: NewerRun | null): Settled {
  const newest = [...queue.flatMap((it) => runOf(it) ?? []), ...(holder === null ? [] : [holder])]
    .filter(({ work }) => work.supersedes)
    .sort((a, b) => (isYounger(a, b) ? -1 : 1));
  const replacementOf = (older: JudgedRun) => newest.find((newer) => supersedes(newer, older)) ?? null;
  const superseded = queue.flatMap((older) => {
    const run = runOf(older);
    const newer = run === null ? null : replacementOf(run);
    return newer === null ? [] : [{ older, newer }];
  });
  const kept = queue.filter((waiter) => !superseded.some(({ older }) => older === waiter));
  const placeOf = (waiter: Waiter): Waiter => {
    const places = superseded.filter(({ newer }) => newer.runId === waiter.runId).map(({ older }) => older.since);
    return { ...waiter, since: [waiter.since, ...places].sort()[0]! };
  };
  return {
    queue: superseded.length === 0 ? kept : kept.map(placeOf).sort((a, b) => (a.since <= b.since ? -1 : 1)),
    superseded,
    replacesHolder: holder === null ? null : replacementOf(holder),
  };
}

/** @returns null if the waiter neither replaces others nor is replaced */
const runOf = ({ workflowId, runId, work }: Waiter): NewerRun | null =>
  work === undefined ? null : { workflowId, runId, work };

/* What messages between runs say of superseding. */

/** Keeps a queue of a thousand waiters below Temporal's limit of 2 MB. */
const MAX_WORK_LENGTH = 1_000;

/** A run whose work does not fit into a message neither replaces others in a queue nor is replaced there. */
export const shortWork = (work: RunWork): RunWork | undefined =>
  JSON.stringify(work).length > MAX_WORK_LENGTH ? undefined : work;

export function newerRunIn(message: unknown): NewerRun | null {
  const work = workIn(isRecord(message) ? message.work : null);
  if (work === null || !namesRun(message)) return null;
  const { workflowId, runId } = message;
  return { workflowId, runId, work };
}
