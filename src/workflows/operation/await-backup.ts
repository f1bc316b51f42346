/** The wait for a backup, whoever made it. */
import type { BackupResult } from '../../contract/run.ts';
import { refusalOf } from './take-baseline.ts';
import { ended, type End } from '../common/conclusion.ts';
import { backupReader } from '../polling/status-reader.ts';
import { startBeat } from '../rules/poll-schedule.ts';
import type { Sighting } from '../rules/verdict.ts';
import { cutShort, wait } from '../polling/poll-until.ts';
import { lastRead, type Watcher } from '../polling/poller.ts';

export interface BackupWait {
  service: string;
  intervalMs: number;
  tries: number;
  /** For messages: `backup of server s1`. */
  what: string;
  result: BackupResult;
  /** Not made by this run: read it at once, for it may long be complete, and refuse one that isn't there. */
  given?: boolean;
}

export async function backupEnd(watcher: Watcher, options: BackupWait): Promise<End> {
  const { service, intervalMs, tries, what, result, given = false } = options;
  const name = `the ${what} (${result.backupId})`;
  const { backupId } = result;
  if (backupId === null) throw new Error('a backup without an id cannot be waited for');
  const end = await wait<End>(
    watcher,
    {
      what: 'backup',
      read: backupReader({ service, backupId }),
      beat: startBeat(Date.now(), intervalMs, given ? [0] : []),
      tries,
    },
    (read) => {
      if (read.ok) return read.state === 'in_progress' ? claimedEnd(name, backupId, watcher) : judged(name, read);
      const refusal = given && watcher.lastStatus === null ? refusalOf(read, true) : null;
      return refusal === null ? undefined : ended('not_started', 'Refused', `${name}: ${refusal}`);
    },
  );
  switch (end.end) {
    case 'judged':
      return end.value;
    case 'given_up':
    case 'cancelled':
      return cutShort(watcher, name, end);
    default:
      return ended(
        'timed_out',
        'BackupTimedOut',
        `${name} was not complete after ${tries} tries, last status ${lastRead(watcher)}`,
      );
  }
}

/** The service said by an event that it failed, and its status doesn't say that it is complete. */
function claimedEnd(name: string, backupId: string, { hints, lastStatus }: Watcher): End | undefined {
  const event = hints.failedBackup(backupId);
  if (event === null) return undefined;
  return ended('failed', 'BackupFailed', `${name} failed, says ${event}; its status was still "${lastStatus}"`);
}

function judged(name: string, sighting: Sighting): End {
  if (sighting.state === 'completed') return { outcome: 'completed', error: null };
  return ended('failed', 'BackupFailed', `${name} failed: the service says "${sighting.status}"`);
}
