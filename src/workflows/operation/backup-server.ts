/** One backup: triggers it, then waits until the service reports it complete. It is the lock of its server. */
import { backupServerId } from '../../contract/ids.ts';
import { PROBE_BACKUP_ID } from '../../contract/names.ts';
import type { BackupRecord, BackupServerInput, OperationInput, RecordedService } from '../../contract/operation.ts';
import { emptyBackup } from '../../contract/results.ts';
import type { BackupResult } from '../../contract/run.ts';
import { problemOfId } from '../../request/problems.ts';
import { createPollSchedule, jitterMs } from '../../rules/poll-schedule.ts';
import { refusalOf } from '../../rules/read-failures.ts';
import { MAX_AMBIGUITIES } from '../../rules/resend.ts';
import type { StatusReading } from '../../rules/verdict.ts';
import { triggerOnce, writeBackupRecord } from '../activity-proxies.ts';
import { COMPLETED, conclude, type Conclusion } from '../conclusion.ts';
import { subjectOfServer } from '../metrics.ts';
import { concludeInterrupted, pollUntil } from '../polling/poll-until.ts';
import { describeLastStatus, type Poller } from '../polling/poller.ts';
import { readerOf } from '../polling/status-reader.ts';
import type { OperationHooks } from './hooks.ts';
import { runOperation } from './run-operation.ts';
import { awaitTrigger, sendUntilAccepted, triggerInput } from './send-until-accepted.ts';

export async function backupServer(input: BackupServerInput, hooks: OperationHooks): Promise<BackupResult> {
  const { serverId } = input;
  const result: BackupResult = { ...emptyBackup(serverId), startedAt: new Date().toISOString() };
  const lockId = problemOfId(serverId) === null ? backupServerId(serverId) : null;
  return runOperation(lockId, input, result, hooks, async (operation) => {
    const refusal = await sendUntilAccepted(operation, input, {
      what: `back up server ${serverId}`,
      prefix: '',
      cancelledBefore: 'cancelled before the backup was made',
      busyWaitMs: input.tries * input.intervalMs,
      waitsInDoubt: true,
      // A backup has no id yet, so its own status cannot show whether the service answers.
      probe: { what: 'backup', reader: readerOf(input, { backupId: PROBE_BACKUP_ID }) },
      late: () => null,
      prepare: () => Promise.resolve(null),
      async post(summary) {
        const call = triggerOnce.createBackup.executeWithOptions({ summary }, [{ ...triggerInput(input), serverId }]);
        const sent = await awaitTrigger(subjectOfServer(serverId), call);
        if (sent.kind === 'accepted') Object.assign(result, { backupId: sent.answer.backupId, source: 'created' });
        return sent;
      },
      // A backup has no baseline to reconcile with, so make another: a spare costs disk space, a missing one the site.
      resolveDoubt: ({ ambiguities, overMs, notBeforeMs, message }) =>
        Promise.resolve(
          ambiguities > MAX_AMBIGUITIES
            ? conclude('unknown', 'OutcomeUnknown', `it is unknown whether a backup was made: ${message}`)
            : Math.max(overMs, notBeforeMs),
        ),
    });
    if (refusal !== null) return refusal;
    // An event that names only the backup then finds this operation.
    recordServerOf('made', input.service, result);
    return awaitBackup(operation, input);
  });
}

/* Waits for a backup, whether this run made it or not. */

type BackupWait = RecordedService & Pick<OperationInput, 'intervalMs' | 'tries' | 'jitter' | 'waits'>;

/** @param given true for a backup that this run did not make: it may be complete, so it is read at once, and it must exist */
export async function awaitBackup(
  poller: Poller<BackupResult>,
  input: BackupWait,
  { given = false } = {},
): Promise<Conclusion> {
  const { intervalMs, tries, waits } = input;
  const { backupId, serverId } = poller.result;
  const name = `the backup of server ${serverId} (${backupId})`;
  if (backupId === null) throw new Error('cannot wait for a backup without an id');
  const earlyMs = given ? [0] : [];
  const polled = await pollUntil<Conclusion>(
    poller,
    {
      what: 'backup',
      reader: readerOf(input, { backupId }),
      schedule: createPollSchedule(Date.now(), intervalMs, { earlyMs, jitterMs: jitterMs(input) }),
      tries,
      waits,
    },
    (read) => {
      if (read.ok && read.state !== 'in_progress') return concludeFromStatus(name, read);
      if (read.ok) return concludeFromClaim(name, backupId, poller);
      // The run may have read it before this wait.
      const isUnread = poller.result.lastStatus === null;
      const refusal = given && isUnread ? refusalOf(read, true) : null;
      return refusal === null ? undefined : conclude('not_started', 'Refused', `${name}: ${refusal}`);
    },
  );
  if (polled.kind === 'decided') return polled.value;
  if (polled.kind === 'given_up' || polled.kind === 'cancelled') return concludeInterrupted(poller, name, polled);
  const last = describeLastStatus(poller);
  return conclude('timed_out', 'BackupTimedOut', `${name} was not complete after ${tries} tries, last status ${last}`);
}

/** An event reports that the backup failed, and its status is not `completed`. */
function concludeFromClaim(name: string, backupId: string, { hints, result }: Poller): Conclusion | undefined {
  const event = hints.claimed('backup.failed', backupId);
  if (event === null) return undefined;
  const message = `${name} failed according to ${event}; its last status was "${result.lastStatus}"`;
  return conclude('failed', 'BackupFailed', message);
}

function concludeFromStatus(name: string, reading: StatusReading): Conclusion {
  if (reading.state === 'completed') return COMPLETED;
  return conclude('failed', 'BackupFailed', `${name} failed: the service reports "${reading.status}"`);
}

/*
 * Records which server a backup belongs to, so that the server is found by the backup's id. Search attributes would lag,
 * and a namespace may not have them.
 */

/** The record, which ends at once. Only its memo matters. */
export async function recordBackup(record: BackupRecord): Promise<BackupRecord> {
  return record;
}

/** Nobody awaits it: the activity itself repeats a write that fails, and the backup is read meanwhile. */
export function recordServerOf(kind: 'made' | 'adopted', service: string, backup: BackupResult): void {
  const { backupId, serverId } = backup;
  if (backupId === null) return;
  const startedAt = backup.startedAt ?? new Date().toISOString();
  void writeBackupRecord({ kind, record: { service, backupId, serverId, startedAt } }).catch(() => undefined);
}
