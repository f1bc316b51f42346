/** One backup: triggers it, then waits until the service reports it complete. It is the lock of its server. */
import type { BackupResult } from '../../contract/run.ts';
import { PROBE_BACKUP_ID } from '../../contract/names.ts';
import { backupServerId } from '../../contract/ids.ts';
import { recordWaitedFor, awaitBackup } from './await-backup.ts';
import { conclude } from '../conclusion.ts';
import { subjectOfServer } from '../metrics.ts';
import { emptyBackup } from '../../contract/results.ts';
import type { OperationHooks } from './hooks.ts';
import { runOperation } from './run-operation.ts';
import { sendUntilAccepted, type Sending } from './send-until-accepted.ts';
import { awaitTrigger, triggerInput } from './send-trigger.ts';
import { backupReader } from '../polling/status-reader.ts';
import { TIMING } from '../../contract/timing.ts';
import { triggerOnce } from '../activity-proxies.ts';
import type { BackupServerInput } from '../../contract/operation.ts';

export async function backupServer(input: BackupServerInput, hooks: OperationHooks): Promise<BackupResult> {
  const result: BackupResult = { ...emptyBackup(input.serverId), startedAt: new Date().toISOString() };
  const lockId = backupServerId(input.serverId);
  return runOperation(lockId, input, result, hooks, async (operation) => {
    const refusal = await sendUntilAccepted(operation, input, sendingOf(input, result));
    if (refusal !== null) return refusal;
    recordBackupId(input.service, result);
    return awaitBackup(operation, { ...input, what: `backup of server ${input.serverId}`, result });
  });
}

/** Lets an event that names only the backup find this operation. */
function recordBackupId(service: string, { backupId, serverId, startedAt }: BackupResult): void {
  if (backupId === null) return;
  recordWaitedFor('made', { service, backupId, serverId, startedAt: startedAt ?? new Date().toISOString() });
}

function sendingOf(input: BackupServerInput, result: BackupResult): Sending {
  const { serverId } = input;
  return {
    what: `back up server ${serverId}`,
    prefix: '',
    cancelledBefore: 'cancelled before the backup was made',
    busyWaitMs: input.tries * input.intervalMs,
    // A backup has no id yet, so its own status cannot show whether the service answers.
    probe: { what: 'backup', reader: backupReader({ ...input, backupId: PROBE_BACKUP_ID }) },
    late: () => null,
    prepare: () => Promise.resolve(null),
    async post(summary) {
      const call = triggerOnce.createBackup.executeWithOptions({ summary }, [{ ...triggerInput(input), serverId }]);
      const sent = await awaitTrigger(subjectOfServer(serverId), call);
      if (sent.kind === 'accepted') Object.assign(result, { backupId: sent.answer.backupId, source: 'created' });
      return sent;
    },
    /** A backup has no baseline to reconcile with, so make another: a spare costs disk space, a missing one the site. */
    resolveDoubt: ({ message, sentMs, ambiguities, notBeforeMs }) =>
      Promise.resolve(
        ambiguities > 1
          ? conclude('unknown', 'OutcomeUnknown', `it is unknown whether a backup was made: ${message}`)
          : Math.max(sentMs + TIMING.post.underWayMs, notBeforeMs),
      ),
  };
}
