/** The backup step of a run: uses a given or recent backup, shares one in progress, or makes one. */
import type { BackupConclusion, Execution } from '../../contract/operation.ts';
import type { BackupResult } from '../../contract/run.ts';
import { backupServerId } from '../../contract/ids.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { startBackup } from './child-operations.ts';
import type { LockAttempt } from '../lock/acquire.ts';
import { COMPLETED, conclude, type Conclusion } from '../conclusion.ts';
import type { RunState } from './run-state.ts';
import { NO_TRIGGER, emptyBackup } from '../../contract/results.ts';
import { adoptBackup, confirmed, foreignBackup, givenBackup, recentBackup } from './adopt-backup.ts';
import { backupInput, carried, isForOther, refusedForService } from './operation-input.ts';
import { askOperation } from '../activity-proxies.ts';
import { TIMING } from '../../contract/timing.ts';
import { holdThatReopens, waitFor } from './await-admission.ts';

/** A backup that something holds back is made once it has ended, if the run waits for that. */
export async function backUp(run: RunState, serverId: string): Promise<Conclusion> {
  for (;;) {
    const conclusion = await backUpNow(run, serverId);
    const hold = holdThatReopens(run, conclusion);
    if (hold === undefined) return conclusion;
    run.result.backup = null;
    const end = await waitFor(run, hold, { kind: 'backup', serverId });
    if (end === null) continue;
    run.result.backup = { ...emptyBackup(serverId), outcome: 'not_started' };
    return end;
  }
}

/** The backup that the run relies on, or a new one if a wait has made it too old. */
export async function renewBackup(run: RunState): Promise<Conclusion> {
  const { input, plan, limits } = run;
  const { serverId } = input;
  if (serverId === undefined || plan.backup.backupId !== null) return COMPLETED;
  const freshMs = Math.max(TIMING.freeze.backupFreshMs, plan.backup.maxAgeMs ?? 0);
  const ageMs = Date.now() - (limits.backupBeganMs ?? -Infinity);
  return ageMs <= freshMs ? COMPLETED : backUp(run, serverId);
}

async function backUpNow(run: RunState, serverId: string): Promise<Conclusion> {
  run.backups += 1;
  run.setPhase('backup');
  const firstReadMs = Date.now();
  const conclusion = await obtainBackup(run, serverId);
  const startedAt = run.result.backup?.startedAt ?? null;
  run.limits.backupBeganMs = startedAt === null ? firstReadMs : Date.parse(startedAt);
  return conclusion;
}

async function obtainBackup(run: RunState, serverId: string): Promise<Conclusion> {
  const { backupId, maxAgeMs } = run.plan.backup;
  if (backupId !== null) return givenBackup(run, serverId, backupId);
  const recent = maxAgeMs === null ? null : await recentBackup(run, serverId, maxAgeMs);
  if (recent !== null) {
    run.result.backup = recent;
    return COMPLETED;
  }
  const foreign = await foreignBackup(run, serverId);
  return foreign === null ? createOrShare(run, serverId) : adoptBackup(run, foreign);
}

async function createOrShare(run: RunState, serverId: string): Promise<Conclusion> {
  const lockId = backupServerId(serverId);
  const { work } = carried(run, { kind: 'backup', serverId });
  const result = emptyBackup(serverId);
  run.result.backup = result;
  const attempt = await run.acquireLock({
    lockId,
    operation: 'backup',
    start: (waiters) => startBackup(run, lockId, { ...backupInput(run, serverId), waiters }),
    // A backup in progress is shared, so a busy server is never a reason to fail.
    ifBusy: 'wait',
    busyTimeoutMs: run.plan.busyTimeoutMs,
    accept: (shared) => shared.result.backupId !== null && !isForOther(run, shared),
    onQueued: (waiting) => run.setWaiting(waiting),
    isForOther: (held) => isForOther(run, held),
    ...definedFields({ work }),
  });
  if (attempt.kind === 'backup') return share(run, attempt.conclusion);
  if (attempt.kind !== 'lock') {
    result.outcome = 'not_started';
    return withoutLock(attempt, serverId, lockId);
  }
  const ended = await attempt.child.ended();
  run.setOperation(null);
  if (ended === null) return leaveBackup(run, result, attempt.child.execution);
  const { error, ...backup } = ended;
  run.result.backup = backup;
  return { outcome: backup.outcome, error };
}

function withoutLock(
  attempt: Exclude<LockAttempt<unknown>, { kind: 'lock' | 'backup' }>,
  serverId: string,
  lockId: string,
): Conclusion {
  if (attempt.kind === 'other_service') return refusedForService(attempt.service, lockId);
  if (attempt.kind === 'cancelled')
    return conclude('not_started', 'Cancelled', `cancelled before server ${serverId} was backed up`);
  const message = `server ${serverId} was not backed up: another run held the lock ${lockId} for too long`;
  return conclude('not_started', 'Busy', message);
}

/** The operation continues without the run, which reports what is known of the backup by then. */
async function leaveBackup(run: RunState, unknown: BackupResult, operation: Execution): Promise<Conclusion> {
  const progress = await askOperation(operation).catch(() => null);
  const seen = progress === null ? unknown : (progress.result as BackupResult);
  const { serverId, backupId, outcome, endedAt } = seen;
  const now = new Date().toISOString();
  run.result.backup = { ...seen, outcome: outcome ?? 'cancelled', endedAt: endedAt ?? now };
  const backup = backupId === null ? 'the backup' : `backup ${backupId}`;
  const message = `cancelled; ${backup} of server ${serverId} continues, followed by ${operation.workflowId}`;
  return conclude('cancelled', 'Cancelled', message);
}

/** Runs that share a backup share its outcome at the service, but each keeps its own timeout. */
async function share(run: RunState, { result, error }: BackupConclusion): Promise<Conclusion> {
  const shared: BackupResult = { ...result, source: 'shared', trigger: { ...NO_TRIGGER } };
  if (shared.outcome === 'failed') {
    run.result.backup = shared;
    return { outcome: shared.outcome, error };
  }
  const own = shared.outcome === 'completed' ? await confirmed(run, shared) : null;
  if (own === null) return adoptBackup(run, { ...shared, outcome: null, endedAt: null });
  run.result.backup = own;
  return COMPLETED;
}
