/** Backups that this run did not make: a recent one, one in progress, or one given by its id. */
import type { BackupRecord } from '../../features/events/shapes.ts';
import type { BackupResult } from '../../contract/run.ts';
import { recordWaitedFor } from '../operation/backup-records.ts';
import { awaitBackup } from '../operation/await-backup.ts';
import { conclude, end, type Conclusion } from '../conclusion.ts';
import { NO_TRIGGER, emptyBackup } from '../../contract/results.ts';
import { readOnce } from '../polling/read-once.ts';
import { backupReader } from '../polling/status-reader.ts';
import { identitiesOf } from '../../contract/service-identity.ts';
import type { RunState } from './run-state.ts';
import { createPoller } from '../polling/poller.ts';
import { findBackupRecord, findCompletedBackup, findSharedBackup } from '../activity-proxies.ts';
import { isForOther } from './operation-input.ts';

/** The backup named by its id, unless Belay made it of another server. The service does not tell whose a backup is. */
export async function givenBackup(run: RunState, serverId: string, backupId: string): Promise<Conclusion> {
  const made = await findBackupRecord({ backupId });
  const ours = made === null || isForOther(run, made) ? null : made;
  // An event reports when a backup began that Belay did not make.
  const announced = ours === null ? await announcedBackup(run, serverId) : null;
  const record = ours ?? (announced?.backupId === backupId ? announced : null);
  const result: BackupResult = { ...emptyBackup(serverId, 'given'), backupId, startedAt: record?.startedAt ?? null };
  const owner = record?.serverId ?? serverId;
  if (owner === serverId) return adoptBackup(run, result);
  run.result.backup = { ...result, outcome: 'not_started' };
  const remedy = 'give a backup of this server, or none to make one';
  return conclude(
    'not_started',
    'Usage',
    `backup ${backupId} is one of server ${owner}, not of ${serverId}: ${remedy}`,
  );
}

/** Waits for a backup that this run did not start. */
export async function adoptBackup(run: RunState, result: BackupResult): Promise<Conclusion> {
  run.result.backup = result;
  const { serverId, backupId, startedAt } = result;
  if (backupId !== null) {
    const { service } = run.service;
    recordWaitedFor('adopted', { service, backupId, serverId, startedAt: startedAt ?? new Date().toISOString() });
  }
  const { intervalMs, tries } = run.plan.backup;
  const what = `backup of server ${result.serverId}`;
  const conclusion = await awaitBackup(createPoller(result, run), {
    ...run.service,
    intervalMs,
    tries,
    jitter: run.jitter,
    what,
    result,
    given: true,
  });
  end(result, conclusion);
  return conclusion;
}

/** A backup that an event reported as started outside Belay, if it is still in progress; or null. */
export async function foreignBackup(run: RunState, serverId: string): Promise<BackupResult | null> {
  const record = await announcedBackup(run, serverId);
  // Ignore a backup that has already taken longer than this run would wait.
  const { intervalMs, tries } = run.plan.backup;
  if (record === null || Date.now() - Date.parse(record.startedAt) > intervalMs * tries) return null;
  const { backupId, startedAt } = record;
  const read = await readBackup(run, backupId, 'check that the backup is still in progress');
  if (!read.ok || read.state !== 'in_progress') return null;
  return { ...emptyBackup(serverId, 'shared'), backupId, startedAt };
}

/** The newest backup of the server that an event reported as started; or null. */
const announcedBackup = (run: RunState, serverId: string): Promise<BackupRecord | null> =>
  findSharedBackup({ serverId, services: identitiesOf(run.service) }).catch(() => null);

/** A completed backup that is recent enough and that the service still reports as completed; or null. */
export async function recentBackup(run: RunState, serverId: string, maxAgeMs: number): Promise<BackupResult | null> {
  const startedSince = new Date(Date.now() - maxAgeMs).toISOString();
  const found = await findCompletedBackup({ serverId, startedSince }).catch(() => null);
  if (found === null || isForOther(run, found)) return null;
  return confirmed(run, { ...found.result, source: 'reused', trigger: { ...NO_TRIGGER } });
}

/**
 * A backup that others report as completed, once this run has read so itself; else null. Another party's word may be
 * wrong, or about another service.
 */
export async function confirmed(run: RunState, result: BackupResult): Promise<BackupResult | null> {
  if (result.backupId === null) return null;
  const read = await readBackup(run, result.backupId, 'check that the backup is completed');
  return read.ok && read.state === 'completed' ? { ...result, lastStatus: read.status, polls: 1 } : null;
}

const readBackup = (run: RunState, backupId: string, summary: string) =>
  readOnce(run, backupReader({ ...run.service, backupId }), summary);
