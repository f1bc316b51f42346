/** Waits for a backup, whether this run made it or not. */
import type { BackupResult } from '../../contract/run.ts';
import type { RecordedService } from '../../contract/operation.ts';
import { refusalOf } from './take-baseline.ts';
import { COMPLETED, conclude, type Conclusion } from '../conclusion.ts';
import { backupReader } from '../polling/status-reader.ts';
import { jitterMs, createPollSchedule } from '../../rules/poll-schedule.ts';
import type { StatusReading } from '../../rules/verdict.ts';
import { concludeInterrupted, pollUntil } from '../polling/poll-until.ts';
import { describeLastStatus, noteProgress, type Poller } from '../polling/poller.ts';
import type { BackupRecord, BackupRecordKind } from '../../features/events/shapes.ts';
import { writeBackupRecord } from '../activity-proxies.ts';

export interface BackupWait extends RecordedService {
  intervalMs: number;
  tries: number;
  jitter?: number;
  /** When to make the tries, from now on. Default: at each interval. */
  /** For messages: `backup of server s1`. */
  what: string;
  result: BackupResult;
  /** Not made by this run: read it at once, since it may be complete, and reject it if it does not exist. */
  given?: boolean;
}

export async function awaitBackup(poller: Poller, options: BackupWait): Promise<Conclusion> {
  const { intervalMs, tries, jitter, what, result, given = false } = options;
  const name = `the ${what} (${result.backupId})`;
  const { backupId } = result;
  if (backupId === null) throw new Error('cannot wait for a backup without an id');
  const polled = await pollUntil<Conclusion>(
    poller,
    {
      what: 'backup',
      reader: backupReader({ ...options, backupId }),
      schedule: createPollSchedule(Date.now(), intervalMs, {
        earlyMs: given ? [0] : [],
        jitterMs: jitterMs(intervalMs, jitter),
      }),
      tries,
    },
    (read) => {
      if (read.ok) {
        noteProgress(result, read);
        return read.state === 'in_progress'
          ? concludeFromClaim(name, backupId, poller)
          : concludeFromStatus(name, read);
      }
      const refusal = given && poller.lastStatus === null ? refusalOf(read, true) : null;
      return refusal === null ? undefined : conclude('not_started', 'Refused', `${name}: ${refusal}`);
    },
  );
  switch (polled.kind) {
    case 'decided':
      return polled.value;
    case 'given_up':
    case 'cancelled':
      return concludeInterrupted(poller, name, polled);
    default:
      return conclude(
        'timed_out',
        'BackupTimedOut',
        `${name} was not complete after ${tries} tries, last status ${describeLastStatus(poller)}`,
      );
  }
}

/** An event reports that the backup failed, and its status is not `completed`. */
function concludeFromClaim(name: string, backupId: string, { hints, lastStatus }: Poller): Conclusion | undefined {
  const event = hints.failedBackup(backupId);
  if (event === null) return undefined;
  return conclude(
    'failed',
    'BackupFailed',
    `${name} failed according to ${event}; its last status was "${lastStatus}"`,
  );
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

/**
 * For a backup that an operation made or a run waits for. A write that fails is repeated while the wait goes on, whose
 * reads must not wait for it.
 */
export function recordWaitedFor(kind: Extract<BackupRecordKind, 'made' | 'adopted'>, record: BackupRecord): void {
  void writeBackupRecord({ kind, record }).catch(() => undefined);
}

/** For what an event reports. @returns whether it was recorded */
export async function recordReported(
  kind: Extract<BackupRecordKind, 'shared' | 'failed'>,
  record: BackupRecord,
): Promise<boolean> {
  return writeBackupRecord({ kind, record }).then(
    () => true,
    () => false,
  );
}
