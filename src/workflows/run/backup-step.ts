/** The backup of a run: one that is there already, one in the making, shared with whoever else wants one, or its own. */
import { proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { BackupEnd, BackupResult, BackupServerInput, BackupSource } from '../../contract/run.ts';
import { backupServerId } from '../../contract/ids/workflow-ids.ts';
import { noteRestedBackup } from '../operation/backup-records.ts';
import { backupEnd } from '../operation/await-backup.ts';
import { startBackup } from './child-operations.ts';
import { ended, type End } from '../common/conclusion.ts';
import { NO_TRIGGER } from '../operation/run-operation.ts';
import { backupReader } from '../polling/status-reader.ts';
import type { Run } from './run-state.ts';
import { createWatcher } from '../polling/poller.ts';

const lookup = proxyActivities<Activities>({ startToCloseTimeout: '10 seconds', retry: { maximumAttempts: 3 } });

const quick = proxyLocalActivities<Activities>({ startToCloseTimeout: '2 seconds', retry: { maximumAttempts: 1 } });

export async function backUp(run: Run, serverId: string): Promise<End> {
  const { backupId, maxAgeMs } = run.plan.backup;
  run.enter('backup');
  if (backupId !== null) return restOn(run, { ...unknownBackup(serverId, 'given'), backupId });
  const recent = maxAgeMs === null ? null : await recentBackup(run, serverId, maxAgeMs);
  if (recent !== null) {
    run.result.backup = recent;
    return { outcome: 'completed', error: null };
  }
  const foreign = await foreignBackup(run, serverId);
  return foreign === null ? createOrShare(run, serverId) : restOn(run, foreign);
}

function unknownBackup(serverId: string, source: BackupSource | null): BackupResult {
  return {
    serverId,
    backupId: null,
    source,
    outcome: null,
    lastStatus: null,
    polls: 0,
    trigger: { ...NO_TRIGGER },
    startedAt: null,
    endedAt: null,
  };
}

async function createOrShare(run: Run, serverId: string): Promise<End> {
  const lockId = backupServerId(serverId);
  const result = unknownBackup(serverId, null);
  run.result.backup = result;
  const turn = await run.takeLock({
    lockId,
    start: (waiters) => startBackup(run, lockId, { ...operationInput(run, serverId), waiters }),
    // A backup in the making is shared, which is no waiting for somebody else.
    ifBusy: 'wait',
    busyTimeoutMs: run.plan.busyTimeoutMs,
    accept: ({ result: shared }) => shared.backupId !== null,
    onQueued: (since) => run.showLock(lockId, since),
  });
  switch (turn.got) {
    case 'backup':
      return share(run, turn.end);
    case 'busy':
      result.outcome = 'not_started';
      return ended('not_started', 'Busy', `server ${serverId} was not backed up: ${lockId} was held for too long`);
    case 'cancelled':
      result.outcome = 'not_started';
      return ended('not_started', 'Cancelled', `cancelled before server ${serverId} was backed up`);
  }
  const closed = await turn.child.end();
  run.showOperation(null);
  if (closed === null) {
    result.outcome = 'cancelled';
    return ended(
      'cancelled',
      'Cancelled',
      `cancelled; the backup of server ${serverId} goes on, followed by ${lockId}`,
    );
  }
  run.result.backup = closed.result ?? { ...result, outcome: closed.end.outcome };
  return closed.end;
}

/** What the service said of a shared backup holds for everybody; how long one waits is each run's own affair. */
async function share(run: Run, { result, error }: BackupEnd): Promise<End> {
  const shared: BackupResult = { ...result, source: 'shared', trigger: { ...NO_TRIGGER } };
  if (shared.outcome !== 'completed' && shared.outcome !== 'failed') {
    return restOn(run, { ...shared, outcome: null, endedAt: null });
  }
  run.result.backup = shared;
  return { outcome: shared.outcome, error };
}

/** Waits for a backup that this run didn't start. */
async function restOn(run: Run, result: BackupResult): Promise<End> {
  run.result.backup = result;
  const { serverId, backupId, startedAt } = result;
  if (backupId !== null) {
    await noteRestedBackup({ backupId, serverId, startedAt: startedAt ?? new Date().toISOString() });
  }
  const { intervalMs, tries } = run.plan.backup;
  const what = `backup of server ${result.serverId}`;
  const service = serviceOf(run);
  const end = await backupEnd(createWatcher(result, run), {
    service,
    intervalMs,
    tries,
    what,
    result,
    given: true,
  });
  result.outcome = end.outcome;
  result.endedAt = new Date().toISOString();
  return end;
}

/** A backup somebody else began, as an event told, if it is still being made; or null. */
async function foreignBackup(run: Run, serverId: string): Promise<BackupResult | null> {
  const record = await quick.findSharedBackup({ serverId }).catch(() => null);
  // One that goes on for longer than this run would wait is none to wait for.
  const { intervalMs, tries } = run.plan.backup;
  if (record === null || Date.now() - Date.parse(record.startedAt) > intervalMs * tries) return null;
  const { backupId, startedAt } = record;
  const read = await backupReader({ service: serviceOf(run), backupId })('whether it is still being made');
  if (!read.ok || read.state !== 'in_progress') return null;
  return { ...unknownBackup(serverId, 'shared'), backupId, startedAt };
}

/** A completed backup that is young enough, read once more; null where there is none, or the service knows better. */
async function recentBackup(run: Run, serverId: string, maxAgeMs: number): Promise<BackupResult | null> {
  const startedSince = new Date(Date.now() - maxAgeMs).toISOString();
  const found = await lookup.findBackup({ serverId, startedSince }).catch(() => null);
  if (found === null || found.result.backupId === null) return null;
  const read = await backupReader({ service: serviceOf(run), backupId: found.result.backupId })('read once more');
  if (!read.ok || read.state !== 'completed') return null;
  const { result } = found;
  return { ...result, source: 'reused', lastStatus: read.status, polls: 1, trigger: { ...NO_TRIGGER } };
}

function operationInput(run: Run, serverId: string): Omit<BackupServerInput, 'waiters'> {
  const { intervalMs, tries } = run.plan.backup;
  return { ...sharedInput(run, 'backup'), serverId, intervalMs, tries };
}

/** What every operation of a run is given. */
export function sharedInput(run: Run, step: string) {
  const { runId, firstExecutionRunId } = workflowInfo();
  return {
    service: serviceOf(run),
    searchAttributes: run.searchAttributes,
    // The first execution's id survives a reset: whatever is sent again carries the same key.
    idempotencyKey: `${firstExecutionRunId}:${step}`,
    reset: runId !== firstExecutionRunId,
    ifBusy: run.plan.ifBusy,
  };
}

export function serviceOf(run: Run): string {
  if (run.result.service === null) throw new Error('the service is known once a run is admitted');
  return run.result.service;
}
