/** One backup: trigger it, then wait until it is really complete. The lock of its server. */
import type { BackupResult, BackupServerInput } from '../../contract/run.ts';
import { backupServerId } from '../../contract/ids/workflow-ids.ts';
import { noteOurBackup } from './backup-records.ts';
import { backupEnd } from './await-backup.ts';
import { cancelledEarly, ended, type End } from '../common/conclusion.ts';
import { NO_TRIGGER, runOperation, type Operation } from './run-operation.ts';
import { afterTrigger, countEnd, NO_ENDS, type TriggerStep } from '../rules/trigger-policy.ts';
import { post, postSummary, POST_UNDER_WAY_MS, triggerEnd, triggerInput } from './send-trigger.ts';
import { sleepUntil } from '../polling/poll-until.ts';

export async function backupServer(input: BackupServerInput): Promise<BackupResult> {
  const result: BackupResult = {
    serverId: input.serverId,
    backupId: null,
    source: null,
    outcome: null,
    lastStatus: null,
    polls: 0,
    trigger: { ...NO_TRIGGER },
    startedAt: new Date().toISOString(),
    endedAt: null,
  };
  return runOperation(backupServerId(input.serverId), input, result, async (operation) => {
    const refusal = await create(operation, input);
    if (refusal !== null) return refusal;
    await note(result);
    operation.enter('wait');
    return backupEnd(operation, { ...input, what: `backup of server ${input.serverId}`, result });
  });
}

/** So that an event which names the backup alone finds its way here. */
async function note({ backupId, serverId, startedAt }: BackupResult): Promise<void> {
  if (backupId === null) return;
  await noteOurBackup({ backupId, serverId, startedAt: startedAt ?? new Date().toISOString() });
}

/** Null once the service gave the backup an id. */
async function create(operation: Operation<BackupResult>, input: BackupServerInput): Promise<End | null> {
  const { result } = operation;
  const { serverId, intervalMs } = input;
  const resendMs = input.tries * intervalMs;
  const busyEndsMs = Date.now() + (input.ifBusy === 'fail' ? 0 : resendMs);
  let ends = NO_ENDS;
  operation.enter('trigger');
  for (;;) {
    result.trigger.attempts += 1;
    const sentMs = Date.now();
    const summary = postSummary(`back up server ${serverId}`, result.trigger);
    const call = post.createBackup.executeWithOptions({ summary }, [{ ...triggerInput(input), serverId }]);
    const end = await triggerEnd(call);
    operation.noteTrigger(end.kind);
    if (end.kind === 'accepted') {
      result.backupId = end.answer.backupId;
      result.source = 'created';
      if (ends.ambiguous > 0) result.trigger.reconciledBy = 'resent';
      return null;
    }
    ends = countEnd(ends, end, Date.now());
    const step = afterTrigger(end, ends, { intervalMs, resendMs, busyEndsMs }, Date.now());
    if (step.step === 'end') return ended(step.outcome, step.type, step.message);
    if (step.step === 'reconcile') {
      result.trigger.ambiguous = true;
      if (ends.ambiguous > 1) return ended('unknown', 'OutcomeUnknown', `whether a backup was made: ${end.message}`);
    }
    const slept = await sleepUntil(operation, againAtMs(step, sentMs), 'before the request is sent again');
    if (slept === 'cancelled') return cancelledEarly(ends, `cancelled before backup was made: ${end.message}`);
  }
}

/** There is nothing to reconcile a backup with: another one is made. A spare costs disk, a missing one the site. */
function againAtMs(step: Exclude<TriggerStep, { step: 'end' }>, sentMs: number): number {
  return step.step === 'send' ? step.atMs : Math.max(sentMs + POST_UNDER_WAY_MS, step.notBeforeMs);
}
