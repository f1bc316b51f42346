/** The queue for a lock: first come, first served, no matter which holder a run asked. Pure. */
import type { BackupConclusion, LockReleased, Waiter } from '../contract/operation.ts';
import { definedFields, isRecord } from '../contract/plain-object.ts';
import type { RunWork } from '../features/superseding/shapes.ts';
import { RUN_TYPES } from '../contract/names.ts';
import { targetOrProblem, problemOfId } from '../request/problems.ts';

/** Keeps a message with a full queue far below Temporal's limit of 2 MB. Later waiters rely on their own look. */
export const MAX_WAITERS = 1_000;

/** Merges two queues. Each run appears once, the earliest first. */
export function joinQueue(queue: readonly Waiter[], newcomers: readonly Waiter[]): Waiter[] {
  const byRun = new Map<string, Waiter>();
  for (const waiter of [...queue, ...newcomers]) {
    const known = byRun.get(waiter.runId);
    if (known === undefined || waiter.since < known.since) byRun.set(waiter.runId, withWork(waiter, known));
  }
  return [...byRun.values()]
    .sort((a, b) => compare(a.since, b.since) || compare(a.runId, b.runId))
    .slice(0, MAX_WAITERS);
}

/** A worker of an earlier version leaves the work out. */
function withWork(waiter: Waiter, known: Waiter | undefined): Waiter {
  const work = waiter.work ?? known?.work;
  return work === undefined ? waiter : { ...waiter, work };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Reads the waiters in a message. Anyone can send a signal from the UI. Temporal rejects the whole workflow task that
 * signals a run with an invalid id, and the task repeats forever, so anything that is not a waiter is dropped.
 */
export function waitersIn(message: unknown): Waiter[] {
  const waiters = isRecord(message) ? message.waiters : null;
  if (!Array.isArray(waiters)) return [];
  return waiters.filter(isWaiter).map(({ workflowId, runId, since, work }) => ({
    workflowId,
    runId,
    since,
    ...definedFields({ work: workIn(work) ?? undefined }),
  }));
}

/** Reads the release in a message, which may come from the UI. */
export function releaseIn(message: unknown): LockReleased {
  const { lockId, backup } = isRecord(message) ? message : {};
  return {
    lockId: typeof lockId === 'string' ? lockId : '',
    waiters: waitersIn(message),
    backup: isBackup(backup) ? backup : null,
  };
}

const isWaiter = (value: unknown): value is Waiter => namesRun(value) && 'since' in value && isInstant(value.since);

function isBackup(value: unknown): value is BackupConclusion {
  const result = isRecord(value) ? value.result : null;
  return isRecord(result) && (result.backupId === null || typeof result.backupId === 'string');
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a value names an execution, as a signal to it needs. */
export function namesRun(value: unknown): value is { workflowId: string; runId: string } {
  const { workflowId, runId } = isRecord(value) ? value : {};
  return problemOfId(workflowId) === null && typeof runId === 'string' && UUID.test(runId);
}

const isInstant = (value: unknown): value is string =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value;

export function workIn(value: unknown): RunWork | null {
  if (!isRecord(value)) return null;
  const { type, service, serverId, targets, startedAt, supersedes, hasBegun } = value;
  const known = RUN_TYPES.find((it) => it === type);
  if (known === undefined || !Array.isArray(targets) || !isInstant(startedAt)) return null;
  const checked = targets.map(targetOrProblem).filter((it) => typeof it !== 'string');
  if (checked.length < targets.length) return null;
  return {
    type: known,
    service: typeof service === 'string' ? service : null,
    serverId: typeof serverId === 'string' ? serverId : null,
    targets: checked,
    startedAt,
    supersedes: supersedes === true,
    hasBegun: hasBegun === true,
  };
}
