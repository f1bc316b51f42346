/** The backup step of a run: uses a given or recent backup, shares one in progress, or makes one. */
import type { BackupConclusion, BackupRecord } from '../../contract/operation.ts';
import { NO_TRIGGER, emptyBackup } from '../../contract/results.ts';
import type { BackupResult } from '../../contract/run.ts';
import { identitiesOf } from '../../contract/service-identity.ts';
import { TIMING } from '../../contract/timing.ts';
import { askOperation, findBackupRecord, findCompletedBackup, findSharedBackup } from '../activity-proxies.ts';
import { COMPLETED, conclude, type Conclusion, endWith, type Ended } from '../conclusion.ts';
import { awaitBackup, recordServerOf } from '../operation/backup-server.ts';
import { unlessCancelled } from '../polling/poll-until.ts';
import { createPoller } from '../polling/poller.ts';
import { readerOf, readOneStatus } from '../polling/status-reader.ts';
import type { RunPart } from './hooks.ts';
import { attempt, isForOther, type LeftOperation, operate, sharedInput } from './part.ts';
import type { RunState } from './run-state.ts';

export const backUp = (run: RunState, serverId: string): Promise<Conclusion> =>
  attempt(run, { kind: 'backup', serverId }, () => backUpNow(run, serverId));

/** Makes a new backup if a wait has made the run's too old. */
export async function renewBackup(run: RunState): Promise<Conclusion> {
  const { input, plan, limits } = run;
  const { serverId } = input;
  if (serverId === undefined || plan.backup.backupId !== null) return COMPLETED;
  const freshMs = Math.max(TIMING.backup.freshMs, plan.backup.maxAgeMs ?? 0);
  const ageMs = Date.now() - (limits.backupBeganMs ?? -Infinity);
  // One that is too old for the deployment is of no use, however fresh it is.
  return ageMs <= Math.min(freshMs, limits.maxAgeAtDeployMs) ? COMPLETED : backUp(run, serverId);
}

async function backUpNow(run: RunState, serverId: string): Promise<Conclusion> {
  run.backups += 1;
  run.setPhase('backup');
  const firstReadMs = Date.now();
  let conclusion: Conclusion | null = null;
  // Each returns null if it has no backup.
  for (const source of [givenBackup, recentBackup, foreignBackup]) conclusion ??= await source(run, serverId);
  conclusion ??= await createOrShare(run, serverId);
  const startedAt = run.result.backup?.startedAt ?? null;
  run.limits.backupBeganMs = startedAt === null ? firstReadMs : Date.parse(startedAt);
  return conclusion;
}

async function createOrShare(run: RunState, serverId: string): Promise<Conclusion> {
  const part: RunPart = { kind: 'backup', serverId };
  const { intervalMs, tries } = run.plan.backup;
  // After a wait, it is another backup.
  const step = run.backups === 1 ? 'backup' : `backup-${run.backups}`;
  run.result.backup = emptyBackup(serverId);
  const input = { ...sharedInput(run, part, step), serverId, intervalMs, tries };
  const end = await operate<BackupResult>(run, part, input, emptyBackup(serverId));
  if ('shared' in end) return share(run, end.shared);
  return 'left' in end ? leaveBackup(run, serverId, end.left) : recordEnd(run, end);
}

function recordEnd(run: RunState, { error, ...backup }: Ended<BackupResult>): Conclusion {
  run.result.backup = backup;
  return { outcome: backup.outcome, error };
}

/**
 * The operation continues without the run, which reports what is known of the backup by then. An operation that ended in
 * the moment in which its run was cancelled or replaced has the last word.
 */
async function leaveBackup(
  run: RunState,
  serverId: string,
  { execution, isClosed, closed }: LeftOperation<BackupResult>,
): Promise<Conclusion> {
  const progress = await askOperation(execution).catch(() => null);
  const seen = progress === null ? emptyBackup(serverId) : (progress.result as BackupResult);
  const { backupId, outcome, endedAt } = seen;
  if (outcome !== null || isClosed()) return recordEnd(run, await closed);
  run.result.backup = { ...seen, outcome: outcome ?? 'cancelled', endedAt: endedAt ?? new Date().toISOString() };
  const backup = backupId === null ? 'the backup' : `backup ${backupId}`;
  const message = `cancelled; ${backup} of server ${serverId} continues, followed by ${execution.workflowId}`;
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

/* Backups that this run did not make: a recent one, one in progress, or one given by its id. */

/** The backup named by its id, unless Belay made it of another server. The service does not tell whose a backup is. */
async function givenBackup(run: RunState, serverId: string): Promise<Conclusion | null> {
  const { backupId } = run.plan.backup;
  if (backupId === null) return null;
  const asked = findBackupRecord({ backupId });
  await unlessCancelled(run, asked);
  // The answer may take long, and never come while no worker can read the record.
  if (run.cancellation.requested) {
    run.result.backup = { ...emptyBackup(serverId, 'given'), backupId, outcome: 'not_started' };
    return conclude('not_started', 'Cancelled', `cancelled before it was known whose backup ${backupId} is`);
  }
  const made = await asked;
  const ours = made === null || isForOther(run, made) ? null : made;
  // An event reports when a backup began that Belay did not make.
  const announced = ours === null ? await announcedBackup(run, serverId) : null;
  const record = ours ?? (announced?.backupId === backupId ? announced : null);
  const result: BackupResult = { ...emptyBackup(serverId, 'given'), backupId, startedAt: record?.startedAt ?? null };
  const owner = record?.serverId ?? serverId;
  if (owner === serverId) return adoptBackup(run, result);
  run.result.backup = { ...result, outcome: 'not_started' };
  const problem = `backup ${backupId} is one of server ${owner}, not of ${serverId}`;
  return conclude('not_started', 'Usage', `${problem}: give a backup of this server, or none to make one`);
}

/** Waits for a backup that this run did not start. @param lastReadAt when the run read its last status; null if it has not */
async function adoptBackup(run: RunState, result: BackupResult, lastReadAt: string | null = null): Promise<Conclusion> {
  run.result.backup = result;
  recordServerOf('adopted', run.service.service, result);
  const { intervalMs, tries } = run.plan.backup;
  const wait = { ...run.service, intervalMs, tries, jitter: run.jitter, waits: 'loop' as const };
  const poller = Object.assign(createPoller(result, run.plan.outageBudgetMs, run), { lastReadAt });
  return endWith(result, await awaitBackup(poller, wait, { given: true }));
}

/** A backup that an event reported as started outside Belay, if it is still in progress; or null. */
async function foreignBackup(run: RunState, serverId: string): Promise<Conclusion | null> {
  const record = await announcedBackup(run, serverId);
  // Ignore a backup that has already taken longer than this run would wait.
  const { intervalMs, tries } = run.plan.backup;
  if (record === null || Date.now() - Date.parse(record.startedAt) > intervalMs * tries) return null;
  const { backupId, startedAt } = record;
  const read = await readBackup(run, backupId, 'check that the backup is still in progress');
  if (!read.ok || read.state !== 'in_progress') return null;
  const readAt = new Date().toISOString();
  const seen = { lastStatus: read.status, inProgressAt: readAt };
  return adoptBackup(run, { ...emptyBackup(serverId, 'shared'), backupId, startedAt, ...seen }, readAt);
}

const announcedBackup = (run: RunState, serverId: string): Promise<BackupRecord | null> =>
  findSharedBackup({ serverId, services: identitiesOf(run.service) }).catch(() => null);

/** A completed backup that is recent enough and that the service still reports as completed; or null. */
async function recentBackup(run: RunState, serverId: string): Promise<Conclusion | null> {
  const { maxAgeMs } = run.plan.backup;
  if (maxAgeMs === null) return null;
  // One that is too old for the deployment is of no use.
  const usableMs = run.targets.length === 0 ? maxAgeMs : Math.min(maxAgeMs, run.limits.maxAgeAtDeployMs);
  const startedSince = new Date(Date.now() - usableMs).toISOString();
  const found = await findCompletedBackup({ serverId, startedSince }).catch(() => null);
  if (found === null || isForOther(run, found)) return null;
  const recent = await confirmed(run, { ...found.result, source: 'reused', trigger: { ...NO_TRIGGER } });
  if (recent === null) return null;
  run.result.backup = recent;
  return COMPLETED;
}

/**
 * A backup that others report as completed, once this run has read so itself; else null. Another party's word may be
 * wrong, or about another service.
 */
async function confirmed(run: RunState, result: BackupResult): Promise<BackupResult | null> {
  if (result.backupId === null) return null;
  const read = await readBackup(run, result.backupId, 'check that the backup is completed');
  return read.ok && read.state === 'completed' ? { ...result, lastStatus: read.status, polls: 1 } : null;
}

const readBackup = (run: RunState, backupId: string, summary: string) =>
  readOneStatus(run, readerOf(run.service, { backupId }), summary);
