/** A run's input from the options of a command. */
import type { Evidence, RunInput } from '../../contract/run.ts';
import { given } from '../../contract/plain-object.ts';

export interface RunOptions {
  server?: string;
  site?: string[];
  backupInterval?: number;
  backupTries?: number;
  maxBackupAge?: number;
  backupId?: string;
  deployInterval?: number;
  deployTries?: number;
  settle?: number;
  minEvidence?: Evidence;
  baselineWait?: number;
  onAmbiguous?: 'resend' | 'stop';
  keepGoing?: boolean;
  ifBusy?: 'wait' | 'fail';
  busyTimeout?: number;
  startWithin?: number;
  heartbeat?: string;
  meta?: Record<string, string>;
}

export function inputOf(options: RunOptions): RunInput {
  const backup = given({
    intervalMs: options.backupInterval,
    tries: options.backupTries,
    maxAgeMs: options.maxBackupAge,
    backupId: options.backupId,
  });
  const deploy = given({
    intervalMs: options.deployInterval,
    tries: options.deployTries,
    settleMs: options.settle,
    minEvidence: options.minEvidence,
    baselineWaitMs: options.baselineWait,
    onAmbiguous: options.onAmbiguous,
  });
  return {
    siteIds: options.site ?? [],
    ...given({
      serverId: options.server,
      backup: Object.keys(backup).length === 0 ? undefined : backup,
      deploy: Object.keys(deploy).length === 0 ? undefined : deploy,
      ifBusy: options.ifBusy,
      busyTimeoutMs: options.busyTimeout,
      startWithinMs: options.startWithin,
      keepGoing: options.keepGoing,
      heartbeat: options.heartbeat,
      meta: options.meta,
    }),
  };
}
