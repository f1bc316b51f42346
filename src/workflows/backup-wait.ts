/** The wait for a backup, whoever made it. */
import type { BackupResult } from '../contract.ts';
import { ended, type End } from './end.ts';
import { backupReader } from './reader.ts';
import { startBeat } from './rules/beat.ts';
import type { Sighting } from './rules/verdict.ts';
import { cutShort, wait } from './wait.ts';
import { lastRead, type Watcher } from './watcher.ts';

export interface BackupWait {
  service: string;
  intervalMs: number;
  tries: number;
  /** For messages: `backup of server s1`. */
  what: string;
  result: BackupResult;
  /** Read at once, too: the backup may long be complete. */
  readAtOnce?: boolean;
}

export async function backupEnd(watcher: Watcher, options: BackupWait): Promise<End> {
  const { service, intervalMs, tries, what, result } = options;
  const { backupId } = result;
  if (backupId === null) throw new Error('a backup without an id cannot be waited for');
  const end = await wait(
    watcher,
    {
      what: 'backup',
      read: backupReader({ service, backupId }),
      beat: startBeat(Date.now(), intervalMs, options.readAtOnce === true ? [0] : []),
      tries,
    },
    (read) => (read.ok && read.state !== 'in_progress' ? read : undefined),
  );
  const name = `the ${what} (${backupId})`;
  switch (end.end) {
    case 'judged':
      return judged(name, end.value);
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

function judged(name: string, sighting: Sighting): End {
  if (sighting.state === 'completed') return { outcome: 'completed', error: null };
  return ended('failed', 'BackupFailed', `${name} failed: the service says "${sighting.status}"`);
}
