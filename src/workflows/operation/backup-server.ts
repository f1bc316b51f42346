/** One backup: triggers it, then waits until the service reports it complete. It is the lock of its server. */
import type { BackupResult } from '../../contract/run.ts';
import { PROBE_BACKUP_ID } from '../../contract/names.ts';
import { backupServerId } from '../../contract/ids/workflow-ids.ts';
import { recordWaitedFor } from './backup-records.ts';
import { awaitService } from './await-service.ts';
import { awaitBackup } from './await-backup.ts';
import { concludeCancelledBeforeStart, conclude, type Conclusion } from '../common/conclusion.ts';
import { subjectOfServer } from '../common/report.ts';
import { emptyBackup } from '../../contract/results/empty-results.ts';
import { runOperation, type Operation } from './run-operation.ts';
import { afterTrigger, countTrigger, isUnsent, NO_TRIGGERS, type TriggerStep } from '../../rules/trigger-policy.ts';
import { postSummary, awaitTrigger, triggerInput } from './send-trigger.ts';
import { backupReader } from '../polling/status-reader.ts';
import { sleepUntil } from '../polling/poll-until.ts';
import { TIMING } from '../../contract/budgets/timing.ts';
import { triggerOnce } from '../common/activity-proxies.ts';
import type { BackupServerInput } from '../../contract/operation.ts';

export async function backupServer(input: BackupServerInput): Promise<BackupResult> {
  const result: BackupResult = { ...emptyBackup(input.serverId), startedAt: new Date().toISOString() };
  const lockId = backupServerId(input.serverId);
  return runOperation(lockId, input, result, async (operation) => {
    const refusal = await create(operation, input);
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

/** @returns null once the service has given the backup an id */
async function create(operation: Operation<BackupResult>, input: BackupServerInput): Promise<Conclusion | null> {
  const { result } = operation;
  const { serverId, intervalMs } = input;
  const resendMs = input.tries * intervalMs;
  const busyUntilMs = Date.now() + (input.ifBusy === 'fail' ? 0 : resendMs);
  // A backup has no id yet, so its own status cannot show whether the service answers.
  const reader = backupReader({ ...input, backupId: PROBE_BACKUP_ID });
  const probe = { what: 'backup', reader, tries: input.tries, intervalMs, late: () => null } as const;
  let counts = NO_TRIGGERS;
  operation.setPhase('trigger');
  for (;;) {
    result.trigger.attempts += 1;
    const sentMs = Date.now();
    const summary = postSummary(`back up server ${serverId}`, result.trigger);
    const call = triggerOnce.createBackup.executeWithOptions({ summary }, [{ ...triggerInput(input), serverId }]);
    const triggered = await awaitTrigger(subjectOfServer(serverId), call);
    if (isUnsent(triggered)) result.trigger.attempts -= 1;
    if (triggered.kind === 'accepted') {
      result.backupId = triggered.answer.backupId;
      result.source = 'created';
      result.acceptedAt = new Date().toISOString();
      if (counts.ambiguous > 0) result.trigger.reconciledBy = 'resent';
      operation.setPhase('wait', 'accepted');
      return null;
    }
    operation.recordTrigger(triggered.kind);
    counts = countTrigger(counts, triggered, Date.now());
    const busyEndsMs = busyUntilMs + operation.parking.spentMs;
    const step = afterTrigger(triggered, counts, { intervalMs, resendMs, busyEndsMs }, Date.now());
    if (step.kind === 'end') {
      const end = await awaitService(operation, probe, { step, result: triggered, counts, prefix: '' });
      if (end !== null) return end;
      counts = NO_TRIGGERS;
      continue;
    }
    if (step.kind === 'reconcile') {
      result.trigger.ambiguous = true;
      if (counts.ambiguous > 1)
        return conclude('unknown', 'OutcomeUnknown', `it is unknown whether a backup was made: ${triggered.message}`);
    }
    const slept = await sleepUntil(operation, againAtMs(step, sentMs), 'before the request is sent again');
    if (slept === 'cancelled')
      return concludeCancelledBeforeStart(counts, `cancelled before the backup was made: ${triggered.message}`);
  }
}

/** A backup has no baseline to reconcile with, so make another: a spare costs disk space, a missing one the site. */
function againAtMs(step: Exclude<TriggerStep, { kind: 'end' }>, sentMs: number): number {
  return step.kind === 'send' ? step.atMs : Math.max(sentMs + TIMING.post.underWayMs, step.notBeforeMs);
}
